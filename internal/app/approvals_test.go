package app

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/autonomy-team/autonomy/agent/gateway"
	"github.com/autonomy-team/autonomy/internal/control"
)

func TestLateAnswersAreReportedAndLogged(t *testing.T) {
	p := newPlace(t)
	w := workshop(t, p, "auto")
	gone, cancel := context.WithCancel(t.Context())
	cancel() // who asked has stopped waiting; the question stays
	if _, err := w.requests.Approve(gone, gateway.Request{Actor: "alice", Tool: "bash", Dir: "/ws", Digest: "d"}); err == nil {
		t.Fatal("answered by nobody")
	}
	open, err := w.Approvals(t.Context())
	if err != nil || len(open) != 1 || open[0].Dir != "/ws" {
		t.Fatalf("open: %+v, %v", open, err)
	}
	if _, err := w.Answer(t.Context(), control.Answer{ID: open[0].ID, Approve: true}); err != nil || len(p.notices) != 0 {
		t.Fatalf("first answer: %v, noticed %+v", err, p.notices)
	}
	_, err = w.Answer(t.Context(), control.Answer{ID: open[0].ID})
	var refused *control.Error
	if !errors.As(err, &refused) || refused.Code != control.CodeConflict {
		t.Errorf("second answer: %v", err)
	}
	if len(p.notices) != 1 || p.notices[0].Part != "approvals" || !strings.Contains(p.notices[0].Text, open[0].ID) {
		t.Errorf("noticed %+v", p.notices)
	}
	_, err = w.Answer(t.Context(), control.Answer{ID: "01J0000000000000000000000X", Approve: true})
	if !errors.As(err, &refused) || refused.Code != control.CodeNotFound {
		t.Errorf("answer to nothing: %v", err)
	}
}
