package terminal

import (
	"encoding/json"
	"testing"

	"github.com/autonomy-team/autonomy/agent/tool"
)

func TestRedirectsIntoStateFoldersAreRefused(t *testing.T) {
	for command, refused := range map[string]bool{
		`echo '{}' > .tasks/task_9.json`:         true,
		`cat x >>.team/inbox/bob.jsonl`:          true,
		`echo x >| "./.autonomy/recipes.json"`:   true,
		`true; echo x &>/ws/.team/config.json`:   true,
		`cd sub && echo x > ../.TASKS/a`:         false, // a shell that changes its folder is for the classifier
		`echo x > sub/../.TASKS/task_1.json`:     true,
		`ls .tasks 2>/dev/null > out.txt`:        false,
		`echo "a > .tasks/x"`:                    false,
		`echo 'a > .tasks/x'`:                    false,
		`echo a \> .tasks/x`:                     false,
		`cat < .tasks/task_1.json > copy.json`:   false,
		`echo x > /elsewhere/.tasks/task_1.json`: false,
		`echo x >`:                               false,
		`echo x 2>&1`:                            false,
	} {
		args, _ := json.Marshal(map[string]string{"command": command})
		for _, x := range []tool.Assessor{&bash{}, &processStart{}} {
			if got := x.Assess(args, tool.Env{Workspace: "/ws", Dir: "/ws"}); got.Refused != refused {
				t.Errorf("%T %s: refused %v (%s)", x, command, got.Refused, got.Reason)
			}
			if x.Assess(args, tool.Env{Workspace: "/ws", Dir: "/ws", Person: true}).Refused {
				t.Errorf("%T %s: refused to a person", x, command)
			}
		}
	}
}
