package agent

// skillMemory is for which goal and state the skills were last chosen, and what was chosen.
type skillMemory struct {
	valid bool
	state string
	names []string
}

// selectSkills is step 1: choose the skills that fit goal and latest state, and show each new body once. Without a
// change of state the last choice stands. A library that fails costs the run its skills, not its life.
func (r *run) selectSkills() error {
	state := r.report.Text
	if r.Skills != nil && (!r.skills.valid || r.skills.state != state) {
		chosen, err := r.Skills.Select(r.goal.Subject+"\n"+r.goal.Description+"\n"+r.goal.Text, state)
		if err != nil {
			if err := r.fault(FaultSkills, err); err != nil {
				return err
			}
			chosen = nil
		}
		r.skills = skillMemory{valid: true, state: state}
		for _, s := range chosen {
			r.skills.names = append(r.skills.names, s.Name)
			if err := r.Transcript.Skill(s); err != nil {
				return &logError{err}
			}
		}
	}
	return r.emit(SkillsSelected{Names: append([]string{}, r.skills.names...)})
}
