package team

import (
	"fmt"
	"time"

	"github.com/autonomy-team/autonomy"
)

// Config is what a Supervisor is made from. The zero value of a field is its default where one is named; the others are
// required.
type Config struct {
	Team        autonomy.TeamName   // default "default"
	Instance    autonomy.InstanceID // required: the life of this daemon
	Board       Board
	Mail        Mail
	Worker      Worker
	Transcripts Transcripts
	Roster      Roster
	Events      Events

	// Tools names the toolsets and tools a member would have, for what tasks require. nil = Spec.Toolsets.
	Tools func(Spec) []string
	// Key names the account behind a member's model: one limit, one back-off. nil = provider and base URL.
	Key func(Spec) string

	Poll         time.Duration // between two looks at the board; default 5 s
	IdleTimeout  time.Duration // from IDLE to shutdown; default 60 s
	Grace        time.Duration // from a stop's request to its force; default 30 s
	StopTimeout  time.Duration // bound on Serve's end after its context; default 10 s
	MaxTeammates int           // live members at once, the lead not counted; default 8
	NoRevive     bool          // a member that shut down comes back only by a spawn
	ExitWhenIdle bool          // Serve returns ErrIdle when nothing is left to do
}

func (c Config) withDefaults() (Config, error) {
	required := []struct {
		name    string
		missing bool
	}{
		{"Instance", c.Instance == ""},
		{"Board", c.Board == nil},
		{"Mail", c.Mail == nil},
		{"Worker", c.Worker == nil},
		{"Transcripts", c.Transcripts == nil},
		{"Roster", c.Roster == nil},
		{"Events", c.Events == nil},
	}
	for _, field := range required {
		if field.missing {
			return c, fmt.Errorf("team config: %s is required", field.name)
		}
	}
	durations := []struct {
		name  string
		value *time.Duration
		usual time.Duration
	}{
		{"Poll", &c.Poll, 5 * time.Second},
		{"IdleTimeout", &c.IdleTimeout, 60 * time.Second},
		{"Grace", &c.Grace, 30 * time.Second},
		{"StopTimeout", &c.StopTimeout, 10 * time.Second},
	}
	for _, d := range durations {
		if *d.value < 0 {
			return c, fmt.Errorf("team config: %s is negative: %s", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	if c.MaxTeammates < 0 {
		return c, fmt.Errorf("team config: MaxTeammates is negative: %d", c.MaxTeammates)
	}
	if c.MaxTeammates == 0 {
		c.MaxTeammates = 8
	}
	if c.Team == "" {
		c.Team = "default"
	}
	if c.Tools == nil {
		c.Tools = func(s Spec) []string { return s.Toolsets }
	}
	if c.Key == nil {
		c.Key = func(s Spec) string { return s.Provider + " " + s.BaseURL }
	}
	return c, nil
}
