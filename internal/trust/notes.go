package trust

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/autonomy-team/autonomy/internal/config"
)

// starters are patterns of git settings that start programs.
var starters = [...]string{
	"filter.*.clean", "filter.*.smudge", "filter.*.process", "diff.*.command", "diff.*.textconv", "diff.external",
	"merge.*.driver", "core.sshcommand", "core.editor", "core.fsmonitor", "core.hookspath", "core.pager",
	"gpg.program", "gpg.*.program", "alias.*", "include.path", "includeif.*.path", "credential.helper",
	"credential.*.helper", "sequence.editor", "remote.*.uploadpack", "remote.*.receivepack",
}

// notes lists what a person should know beside the files that act.
func notes(ctx context.Context, ws config.Workspace) []Note {
	var found []Note
	if _, err := os.Lstat(ws.Recipes()); err == nil {
		found = append(found, Note{Where: ".autonomy/recipes.json", Text: "recorded actions that may be offered again"})
	}
	index := gitIndex(ws.Root)
	if index == "" {
		return found
	}
	file := filepath.Join(filepath.Dir(index), "config")
	if _, err := os.Stat(file); err != nil {
		return found
	}
	out, err := git(ctx, ws.Root, "config", "--file", file, "--list", "-z", "--no-includes")
	if err != nil {
		return append(found, Note{Where: file, Text: err.Error()})
	}
	for setting := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(setting, "\n")
		if startsProgram(key) {
			found = append(found, Note{Where: file, Text: "git would start a program: " + key + " = " + value})
		}
	}
	return found
}

// startsProgram compares section and name without case, as git does; the part between them, which has any characters,
// stands for one star.
func startsProgram(key string) bool {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return false
	}
	plain := strings.ToLower(key[:first]) + "." + strings.ToLower(key[last+1:])
	if first != last {
		plain = strings.ToLower(key[:first]) + ".x." + strings.ToLower(key[last+1:])
	}
	for _, pattern := range starters {
		if ok, _ := path.Match(pattern, plain); ok {
			return true
		}
	}
	return false
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
