package team

import (
	"context"
	"fmt"

	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/agent/tool"
	"github.com/autonomy-team/autonomy/inbox"
)

type sendArgs struct {
	To        string `json:"to" jsonschema:"a member, lead, user, or all"`
	Content   string `json:"content"`
	Interrupt bool   `json:"interrupt,omitempty" jsonschema:"do not wait for the end of its turn; for what cannot wait"`
}

// sendMessage stamps the sender itself: a model cannot write in another's name.
func sendMessage(cfg Config) tool.Tool {
	return op[sendArgs]{
		name: "send_message", effect: "send mail",
		about: "Send mail to a member or to all. An answer comes as mail.",
		run: func(ctx context.Context, call tool.Call, a sendArgs) (string, error) {
			kind := inbox.KindMessage
			if a.To == "all" {
				kind = inbox.KindBroadcast
			}
			note, err := cfg.Send(ctx, inbox.Message{
				Kind: kind, From: call.Env.Actor, To: autonomy.AgentName(a.To), Content: a.Content, Interrupt: a.Interrupt,
			})
			switch {
			case err != nil:
				return "", err
			case note != "":
				return note, nil
			}
			return "sent to " + a.To, nil
		},
	}
}

// readInbox does not hand out mail itself: mail enters a conversation on one path only, so that each message is in it
// once and is acknowledged after it is durable.
func readInbox(cfg Config) tool.Tool {
	return op[nothing]{
		name: "read_inbox", reads: true,
		about: "Look for new mail. It also comes by itself between your turns.",
		run: func(ctx context.Context, call tool.Call, _ nothing) (string, error) {
			n, err := cfg.Unread(ctx, call.Env.Actor)
			switch {
			case err != nil:
				return "", err
			case n == 0:
				return "No unread mail.", nil
			}
			return fmt.Sprintf("%d unread; they follow in the next message.", n), nil
		},
	}
}
