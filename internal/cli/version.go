package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/control"
)

// versionLine is what 'version' and --version print after the name.
func versionLine() string {
	return fmt.Sprintf("%s (%s, %s/%s)", control.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func newVersionCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  autonomy version --json",
		GroupID: "besides",
		Args:    words(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return s.json(map[string]string{
					"version": control.Version(), "protocol": control.Protocol, "go": runtime.Version(),
					"platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			s.print("autonomy %s", versionLine())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
