package app

import (
	"fmt"
	"sync"
	"testing"

	"github.com/autonomy-team/autonomy/agent"
	"github.com/autonomy-team/autonomy/agent/action"
)

func event(log *runLog) agent.Event {
	return agent.Event{Run: log.id, Turn: 3, Actor: "alice", Task: 7, Claim: "01M8Q5QSB559YCF0VM3WNR9CPF", Type: agent.TypeObservation, Data: agent.Observed{
		Observation: action.Observation{Call: "call_1", Tool: "bash", Status: action.OK, Output: "ok  \tpackage/one\t0.1s\nok  \tpackage/two\t0.2s\n", Wrote: true},
	}}
}

// BenchmarkRecord is one event masked, summed and written to a run's log.
func BenchmarkRecord(b *testing.B) {
	p := newPlace(b)
	p.env["OPENAI_API_KEY"] = "a-secret-value-of-this-person"
	log, err := p.beginRun(nil)
	if err != nil {
		b.Fatal(err)
	}
	defer log.close()
	e := event(log)
	for b.Loop() {
		if err := log.Record(e); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRecordInMany writes to 64 logs at once.
func BenchmarkRecordInMany(b *testing.B) {
	const logs, each = 64, 200
	p := newPlace(b)
	var open []*runLog
	for range logs {
		log, err := p.beginRun(nil)
		if err != nil {
			b.Fatal(err)
		}
		defer log.close()
		open = append(open, log)
	}
	for b.Loop() {
		var all sync.WaitGroup
		for _, log := range open {
			all.Go(func() {
				e := event(log)
				for range each {
					if err := log.Record(e); err != nil {
						panic(fmt.Sprint(err))
					}
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(float64(b.N*logs*each)/b.Elapsed().Seconds(), "events/s")
}
