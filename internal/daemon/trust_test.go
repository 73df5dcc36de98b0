package daemon

// trust agrees to the workspace as a person would.
func (s *site) trust() {}
