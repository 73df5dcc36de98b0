package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/autonomy-team/autonomy/agent/llm"
)

// team runs several clients with one key at once, each doing some requests.
func team(t *testing.T, members, each int, n *network, id string) (start time.Time) {
	t.Helper()
	limiters := &Limiters{}
	start = time.Now()
	var wg sync.WaitGroup
	for range members {
		c := over(t, id, n, func(c *Config) { c.Limiters = limiters })
		wg.Go(func() {
			for range each {
				if _, err := c.Complete(t.Context(), ask1("hi")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return start
}

func TestFourTeammatesRespectOnePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{replies: []reply{good("x")}}
		start := team(t, 4, 20, n, "nvidia")
		// 36 a minute after a burst of four: 80 requests need (80-4)/0.6 s.
		if took := time.Since(start); took < 120*time.Second || took > 135*time.Second {
			t.Errorf("80 requests took %s", took)
		}
		if len(n.at) != 80 {
			t.Errorf("%d requests", len(n.at))
		}
	})
}

func TestFourTeammatesShareTheSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := good("x")
		slow.after = 10 * time.Second
		n := &network{replies: []reply{slow}}
		team(t, 12, 2, n, "zai")
		if n.most != 4 {
			t.Errorf("%d requests in flight, want 4", n.most)
		}
	})
}

func TestOne429HoldsAllAndLetsOneThroughFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := reply{status: 429, header: map[string]string{"Retry-After": "20"}, body: "{}"}
		slow := good("x")
		slow.after = 5 * time.Second
		n := &network{replies: []reply{limited, limited, slow}}
		limiters := &Limiters{}
		start := time.Now()
		var wg sync.WaitGroup
		first := over(t, "openai-api", n, func(c *Config) { c.Limiters = limiters })
		wg.Go(func() { _, _ = first.Complete(t.Context(), ask1("hi")) })
		synctest.Wait()
		for range 3 {
			c := over(t, "openai-api", n, func(c *Config) { c.Limiters = limiters })
			wg.Go(func() {
				if _, err := c.Complete(t.Context(), ask1("hi")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		// One probes at 20 s and is limited again, one probes at 40 s and passes at 45 s, then the others go.
		got := n.seconds(start)
		if len(got) != 6 || got[0] != 0 || got[1] != 20 || got[2] != 40 || got[3] != 45 || got[5] != 45 {
			t.Errorf("requests at %v", got)
		}
	})
}

func TestACancelledProbeIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(0, 4)
		p, err := l.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.done(true, true, 10*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if _, err := acquireWithin(ctx, l, 5*time.Second); err == nil {
			t.Fatal("the gate did not hold")
		}
		probe, err := l.acquire(ctx)
		if err != nil || !probe.probe {
			t.Fatalf("got %+v, %v", probe, err)
		}
		passed := make(chan *pass, 1)
		go func() {
			p, _ := l.acquire(t.Context())
			passed <- p
		}()
		synctest.Wait()
		probe.done(false, false, 0)
		second := <-passed
		if !second.probe {
			t.Error("nobody probes in place of the cancelled one")
		}
		second.done(false, true, 0)
		if p, err := l.acquire(t.Context()); err != nil || p.probe {
			t.Errorf("the gate stayed shut: %+v, %v", p, err)
		}
	})
}

func acquireWithin(ctx context.Context, l *lane, d time.Duration) (*pass, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return l.acquire(ctx)
}

func TestKeysAndHostsHaveLanesOfTheirOwn(t *testing.T) {
	var l Limiters
	at := func(url, key string) string {
		e := Endpoint{BaseURL: url, Key: Secret(key)}
		return fmt.Sprintf("%p", l.lane(e))
	}
	first := at("https://a/v1", "k1")
	if again := at("https://a/v1", "k1"); again != first {
		t.Error("one key, two lanes")
	}
	if first == at("https://a/v1", "k2") || first == at("https://b/v1", "k1") {
		t.Error("different keys or hosts share a lane")
	}
}

// A wait that is too long to be slept through is told to all at once; after a minute one may try whether it still holds.
func TestALongWaitIsToldToAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{replies: []reply{{status: 429, header: map[string]string{"Retry-After": "3600"}, body: "{}", after: time.Second}, good("hi")}}
		limiters := &Limiters{}
		one := func(c *Config) {
			c.Limiters = limiters
			c.Endpoint.Provider.InFlight = 1
		}
		begin := time.Now()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				_, err := over(t, "openai-api", n, one).Complete(t.Context(), ask1("hi"))
				var e *llm.Error
				if !errors.As(err, &e) || e.Class != llm.Quota || e.RetryAfter < 59*time.Minute || !strings.Contains(e.Hint, "try again in") {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if len(n.at) != 1 || time.Since(begin) != time.Second {
			t.Errorf("%d requests in %s", len(n.at), time.Since(begin))
		}
		time.Sleep(maxWait)
		if _, err := over(t, "openai-api", n, one).Complete(t.Context(), ask1("hi")); err != nil || len(n.at) != 2 {
			t.Errorf("a minute later: %v after %d requests", err, len(n.at))
		}
	})
}

func TestAShutGateHoldsNobodyForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(0, 4)
		p, err := l.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.done(true, true, 0)
		probe, err := l.acquire(t.Context()) // never ends
		if err != nil || !probe.probe {
			t.Fatalf("got %+v, %v", probe, err)
		}
		start := time.Now()
		if _, err := l.acquire(t.Context()); !errors.Is(err, errHeld) || time.Since(start) != maxWaiting {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestWaitingAtTheGateCountsAgainstTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{replies: []reply{{status: 503, header: map[string]string{"Retry-After": "50"}, body: "{}"}}}
		limiters := &Limiters{}
		c := over(t, "openai-api", n, func(c *Config) { c.Limiters = limiters })
		l := limiters.lane(c.Endpoint())
		p, err := l.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.done(true, true, time.Second)
		start := time.Now()
		l.until = start.Add(200 * time.Second) // as after several refusals
		if _, err := c.Complete(t.Context(), ask1("hi")); err == nil {
			t.Fatal("want an error")
		}
		// 200 s at the gate leave room for two waits of 50 s.
		if got := fmt.Sprint(n.seconds(start)); got != "[200 250 300]" {
			t.Errorf("requests at %s", got)
		}
	})
}
