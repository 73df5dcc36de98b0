package cli

import "github.com/spf13/cobra"

// addCommands hangs every command under root. One file holds each.
func addCommands(root *cobra.Command, s *Streams) {
	root.AddCommand(
		newInitCmd(s), newTrustCmd(s), newDemoCmd(s), newUpCmd(s), newDownCmd(s), newRunCmd(s),
		newTaskCmd(s), newWaitCmd(s),
		newTeamCmd(s), newSendCmd(s), newInboxCmd(s), newChatCmd(s),
		newModelCmd(s), newKeysCmd(s), newDoctorCmd(s),
		newStatusCmd(s), newRunsCmd(s), newToolsCmd(s), newPolicyCmd(s), newRecipesCmd(s), newApprovalsCmd(s),
		newAnswerCmd(s, "approve", "Approved", "Allow what a member asked leave for", true),
		newAnswerCmd(s, "deny", "Denied", "Refuse what a member asked leave for", false),
		newVersionCmd(s),
	)
}
