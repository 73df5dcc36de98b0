package tool

import "slices"

// Toolset is one row of the catalogue, as `tools list` shows it.
type Toolset struct {
	Name        string   `json:"name"`
	Default     bool     `json:"default"`
	Tools       []string `json:"tools"` // all that the toolset is to have
	Implemented bool     `json:"implemented"`
	Enabled     bool     `json:"enabled"`
	Available   bool     `json:"available"`
	Reason      string   `json:"reason,omitempty"` // why it is not available
}

// Catalog lists every toolset there is or will be, in the order of the documentation. What is implemented is what the
// registry holds; enabled names the toolsets that are switched on, nil those that are on by default.
func Catalog(r *Registry, enabled []string) []Toolset {
	sets := catalog()
	for i := range sets {
		s := &sets[i]
		s.Implemented = slices.ContainsFunc(r.List(), func(spec Spec) bool { return spec.Toolset == s.Name })
		s.Enabled = slices.Contains(enabled, s.Name) || enabled == nil && s.Default
		switch {
		case !s.Implemented:
			s.Reason = "not part of this build or this agent"
		case !s.Enabled:
			s.Reason = "switched off: autonomy tools enable " + s.Name
		default:
			s.Available = true
		}
	}
	return sets
}

func catalog() []Toolset {
	return []Toolset{
		{Name: "file", Default: true, Tools: []string{
			"read_file", "read_files", "write_file", "edit_file", "list_dir", "stat", "move_file", "make_dir", "trash_file",
			"outline", "check_syntax",
		}},
		{Name: "search", Default: true, Tools: []string{"search_text", "find_files", "find_symbol"}},
		{Name: "terminal", Default: true, Tools: []string{
			"bash", "process_start", "process_output", "process_wait", "process_stop", "process_list",
		}},
		{Name: "skills", Default: true, Tools: []string{"list_skills", "load_skill"}},
		{Name: "team", Default: true, Tools: []string{
			"idle", "claim_task", "complete_task", "create_task", "update_task", "list_tasks", "get_task", "send_message",
			"read_inbox", "submit_plan", "compact", "spawn_teammate", "list_teammates", "stop_teammate", "review_plan",
		}},
		{Name: "project", Tools: []string{
			"git_status", "git_diff", "git_log", "git_show", "parse_json", "parse_yaml", "detect_project", "discover_tests",
		}},
		{Name: "browser", Tools: []string{
			"browser_navigate", "browser_snapshot", "browser_click", "browser_type", "browser_scroll", "browser_back",
			"browser_press", "browser_screenshot", "browser_images", "browser_console", "browser_dialog",
		}},
		{Name: "memory", Tools: []string{"remember", "recall", "forget"}},
		{Name: "delegate", Tools: []string{"delegate"}},
		{Name: "cronjob", Tools: []string{"schedule_task", "list_schedules", "cancel_schedule"}},
		{Name: "computer_use", Tools: []string{"computer"}},
	}
}
