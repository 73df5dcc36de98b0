package provider

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/autonomy-team/autonomy/agent/llm"
	"github.com/autonomy-team/autonomy/agent/provider/wire"
)

// defaultCoolDown is how long an endpoint that failed is passed over while there is a fallback.
const defaultCoolDown = 5 * time.Minute

// Config is what a Client is made of; the zero value of every field but Endpoint is a default.
type Config struct {
	Endpoint Endpoint
	// Fallbacks are tried in order when the endpoint's provider is in trouble (classes rate, quota, server, transport and
	// cut); an endpoint that failed is passed over for CoolDown, or for as long as the provider said.
	Fallbacks []Endpoint
	CoolDown  time.Duration
	// Limiters are shared by all clients of a team; nil means that this client stands alone.
	Limiters *Limiters
	// HTTP sends the requests; nil means a transport of the client's own, which Close releases.
	HTTP   http.RoundTripper
	Prices Prices
	// Jitter gives numbers in [0, 1) that spread retries; nil means random ones.
	Jitter func() float64
	// Version goes into the User-Agent.
	Version string
}

// Client completes requests at one endpoint or its fallbacks. It is an llm.Client and an llm.Sizer, and safe for
// concurrent use.
type Client struct {
	links    []*link
	coolDown time.Duration
	prices   Prices
	jitter   func() float64
	own      *http.Transport

	mu   sync.Mutex
	cool []time.Time // per link: when it may be tried again
}

// link is one endpoint with what is needed to reach it.
type link struct {
	endpoint Endpoint
	lane     *lane
	base     http.RoundTripper
	openai   *openai.Client
	agent    string
	shelf    *shelf
}

// New makes a client. It sends nothing.
func New(cfg Config) (*Client, error) {
	c := &Client{coolDown: cfg.CoolDown, prices: cfg.Prices, jitter: cfg.Jitter}
	if c.coolDown <= 0 {
		c.coolDown = defaultCoolDown
	}
	if c.jitter == nil {
		c.jitter = rand.Float64
	}
	limiters := cfg.Limiters
	if limiters == nil {
		limiters = &Limiters{}
	}
	base := cfg.HTTP
	if base == nil {
		c.own = newTransport()
		base = c.own
	}
	agent := "autonomy/" + cfg.Version
	if cfg.Version == "" {
		agent = "autonomy"
	}
	for _, e := range append([]Endpoint{cfg.Endpoint}, cfg.Fallbacks...) {
		if e.BaseURL == "" {
			return nil, errors.New("make client: Endpoint.BaseURL is missing")
		}
		c.links = append(c.links, newLink(e, limiters, base, agent))
	}
	c.cool = make([]time.Time, len(c.links))
	return c, nil
}

// newLink prepares the client library for one endpoint: our transport underneath, no redirects, no limit on keep-alives
// (its own limit of 300 lines ends streams of slow servers).
func newLink(e Endpoint, limiters *Limiters, base http.RoundTripper, agent string) *link {
	cfg := openai.DefaultConfig(e.Key.Reveal())
	cfg.BaseURL = e.BaseURL
	cfg.EmptyMessagesLimit = math.MaxUint
	cfg.HTTPClient = &http.Client{
		Transport:     &wire.Transport{Base: base},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &link{
		endpoint: e, lane: limiters.lane(e), base: base, openai: openai.NewClientWithConfig(cfg), agent: agent, shelf: &shelf{},
	}
}

// newTransport honours the proxy variables and gives up on dialling early; there is no limit for the whole request,
// because it would cut long streams.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
	}
}

// Close releases idle connections. The client may still be used.
func (c *Client) Close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// Complete implements llm.Client. Errors are *llm.Error; when there are fallbacks and all failed, it is the error of
// the first endpoint that was tried.
func (c *Client) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	var failed *llm.Error
	tries := 0
	for _, i := range c.order() {
		if i > 0 {
			req.Model = "" // the name means nothing to another provider
		}
		resp, err := c.at(ctx, c.links[i], req)
		if err == nil {
			resp.Tries += tries
			return resp, nil
		}
		tries += err.Tries
		if failed == nil {
			failed = err
		}
		if !providerTrouble(err.Class) {
			failed = err
			break
		}
		c.rest(i, err.RetryAfter)
	}
	failed.Tries = tries
	return llm.Response{}, failed
}

// providerTrouble reports whether another provider may do better with the same request.
func providerTrouble(class llm.Class) bool { return class.Transient() || class == llm.Quota }

// order is the links to try: those that do not rest, or all when every one rests.
func (c *Client) order() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ready, all []int
	for i, until := range c.cool {
		all = append(all, i)
		if !time.Now().Before(until) {
			ready = append(ready, i)
		}
	}
	if len(ready) == 0 {
		return all
	}
	return ready
}

// rest passes link i over for a while, if there is another one.
func (c *Client) rest(i int, asked time.Duration) {
	if len(c.links) == 1 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cool[i] = time.Now().Add(max(c.coolDown, asked))
}

// Window implements llm.Sizer for the first endpoint.
func (c *Client) Window() int {
	l := c.links[0]
	return l.capped(l.lane.models.knownWindow(l.model()))
}

// Estimate implements llm.Sizer for the first endpoint.
func (c *Client) Estimate(req llm.Request) int {
	l := c.links[0]
	return int(float64(estimate(req.Messages, req.Tools)) * l.lane.models.factor(l.model()))
}

// Endpoint is the first endpoint, for people who ask what is used.
func (c *Client) Endpoint() Endpoint { return c.links[0].endpoint }
