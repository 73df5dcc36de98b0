package board

import "cmp"

// Compare is the order in which ready tasks are taken: higher priority first, then the smaller id as a number, so that
// 2 comes before 10. It is 0 for one and the same task only.
func Compare(a, b Task) int {
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}
