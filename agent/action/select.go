package action

import (
	"math"
	"slices"
)

// The weights of a score and the penalties in it. Beam is how many paths a ranking keeps.
const (
	WeightPurpose     = 0.10
	WeightEvidence    = 0.30
	WeightRisk        = -0.35
	WeightSideEffects = -0.20
	WeightPenalty     = -1.0

	PenaltyDone        = 0.75
	PenaltyFailureMax  = 3.0
	PenaltyUnavailable = 1.0
	PenaltyInvalid     = 1.0
	PenaltyEmpty       = 1000.0

	EvidenceFull = 10 // successes that count as full evidence
	Beam         = 3
)

// Score is the worth of a path: Total is the weighted sum of the five parts, each of which is the average over the
// path's actions before weighting.
type Score struct {
	Total       float64 `json:"total"`
	Purpose     float64 `json:"purpose"`
	Evidence    float64 `json:"evidence_strength"`
	Risk        float64 `json:"risk"`
	SideEffects float64 `json:"side_effects"`
	Penalty     float64 `json:"penalty"`
}

// Facts is what a run has seen so far, by action fingerprint.
type Facts struct {
	Done     map[string]bool
	Failures map[string]int
}

// Why a path of a ranking was not kept.
const (
	DroppedDuplicate = "duplicate"
	DroppedBeam      = "beam"
)

// Ranked is a path with its score. Dropped is "" for a path that was kept.
type Ranked struct {
	Path
	Score   Score  `json:"score"`
	Dropped string `json:"dropped,omitempty"`
}

// Rate scores one assessed path.
func Rate(p Path, f Facts) Score {
	n := float64(len(p.Actions))
	if n == 0 {
		return total(Score{Penalty: PenaltyEmpty})
	}
	var s Score
	for _, a := range p.Actions {
		if a.Purpose != "" {
			s.Purpose += 1 / n
		}
		switch a.Risk {
		case Low:
		case Medium:
			s.Risk += 0.5 / n
		default: // unknown means high
			s.Risk += 1 / n
		}
		if a.SideEffects {
			s.SideEffects += 1 / n
		}
		s.Penalty += penalty(a, f) / n
	}
	s.Evidence = min(float64(p.Evidence)/EvidenceFull, 1)
	return total(s)
}

func penalty(a Action, f Facts) float64 {
	sum := 0.0
	if f.Done[a.Fingerprint] {
		sum += PenaltyDone
	}
	sum += min(PenaltyFailureMax, float64(f.Failures[a.Fingerprint]))
	switch {
	case a.Unavailable: // Invalid then says which tools there are, nothing about the arguments
		sum += PenaltyUnavailable
	case a.Invalid != "" || a.Problem != "":
		sum += PenaltyInvalid
	}
	return sum
}

// total adds the parts up, rounded to a millionth so that equal paths compare equal whatever the order of additions.
func total(s Score) Score {
	for _, part := range []*float64{&s.Purpose, &s.Evidence, &s.Risk, &s.SideEffects, &s.Penalty} {
		*part = round(*part)
	}
	s.Total = round(WeightPurpose*s.Purpose + WeightEvidence*s.Evidence + WeightRisk*s.Risk +
		WeightSideEffects*s.SideEffects + WeightPenalty*s.Penalty)
	return s
}

func round(x float64) float64 {
	x = math.Round(x*1e6) / 1e6
	if x == 0 {
		return 0 // no negative zero in the log
	}
	return x
}

// Select ranks assessed paths, best first. Equal scores keep the order in which they were proposed; a path that would
// do the same as a better one is dropped, and so is everything past the beam. Dropped paths stand at the end with the
// reason. A certain path stands alone and unscored.
func Select(paths []Path, f Facts, beam int) []Ranked {
	for _, p := range paths {
		if p.Certain {
			return []Ranked{{Path: p}}
		}
	}
	all := make([]Ranked, len(paths))
	for i, p := range paths {
		all[i] = Ranked{Path: p, Score: Rate(p, f)}
	}
	slices.SortStableFunc(all, func(a, b Ranked) int {
		switch {
		case a.Score.Total > b.Score.Total:
			return -1
		case a.Score.Total < b.Score.Total:
			return 1
		default:
			return 0
		}
	})
	seen := map[string]bool{}
	kept, dropped := make([]Ranked, 0, len(all)), []Ranked(nil)
	for _, r := range all {
		fp := r.Fingerprint()
		switch {
		case len(r.Actions) > 0 && seen[fp]:
			r.Dropped = DroppedDuplicate
		case len(kept) == beam:
			r.Dropped = DroppedBeam
		default:
			seen[fp] = true
			kept = append(kept, r)
			continue
		}
		dropped = append(dropped, r)
	}
	return append(kept, dropped...)
}
