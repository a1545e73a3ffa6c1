package load

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Config says what load to make. URL and Rate are required.
type Config struct {
	URL    string // of the server, with or without /v1: http://127.0.0.1:8000
	Model  string // empty: the first that GET /v1/models lists
	APIKey string // sent as a bearer token when not empty

	Rate     float64       // mean arrivals a second; the arrivals are a Poisson process
	Duration time.Duration // how long requests are sent; 0: until the context ends
	Timeout  time.Duration // of one request, from its intended arrival; 0: two minutes

	PromptTokens       int      // target length of a prompt, approximate; 0: a short question as people ask it
	PromptSpread       float64  // 0–1: each prompt's target is drawn evenly from PromptTokens·(1±PromptSpread)
	SharedPrefixTokens int      // prompts begin with the same text of about this length; 0: no two share a long prefix
	SharedPrefixes     int      // of those texts, drawn evenly; 0: one
	CharsPerToken      float64  // of the model's vocabulary, to reach PromptTokens; 0: 2.73, right for the shipped model. Large vocabularies: about 4
	OutputTokens       int      // max_tokens of each answer, and the kind of question that fills it; 0: answers end by themselves
	ForceOutput        bool     // with OutputTokens: also ask for exactly that many (ignore_eos, understood by vLLM and its kin)
	Priorities         []string // each request asks for one of them, drawn evenly: an integer (vLLM: the lower, the more urgent) or a class by name; empty: none is asked for
	Seed               int64    // the same seed gives the same arrivals and the same prompts

	MaxInFlight int // most requests out at once; 0: 1024. An arrival beyond it is not sent and is counted in Client.Capped

	Connections int // most connections at once, on which requests wait for each other within the client; 0: as many as are needed

	Interval time.Duration // with Progress: how often to call it; 0: every second
	Progress func(Report)  // given the interval just ended; called from one goroutine, never after Run returned

	Ended func(Request) // given each request that was sent, when it has ended; from one goroutine at a time

	Transport http.RoundTripper // nil: a pool of keep-alive connections; for servers within the process
}

// Limits of a configuration: beyond them a number is a mistake, and the client
// would run out of memory or sockets before the server feels anything.
const (
	maxRate     = 100_000
	maxTokens   = 1 << 20
	maxInFlight = 1 << 16
	maxPrefixes = 1 << 10
)

// complete checks c and fills in what was left out.
func (c Config) complete() (Config, error) {
	switch {
	case !(c.Rate > 0) || c.Rate > maxRate:
		return c, fmt.Errorf("rate %v is not between 0 and %d requests a second", c.Rate, maxRate)
	case c.Duration < 0 || c.Timeout < 0 || c.Interval < 0:
		return c, errors.New("a duration is negative")
	case outside(c.PromptTokens, maxTokens) || outside(c.OutputTokens, maxTokens) || outside(c.SharedPrefixTokens, maxTokens):
		return c, fmt.Errorf("a token count is not between 0 and %d", maxTokens)
	case outside(c.SharedPrefixes, maxPrefixes):
		return c, fmt.Errorf("at most %d texts can be shared", maxPrefixes)
	case outside(c.MaxInFlight, maxInFlight):
		return c, fmt.Errorf("at most %d requests can be in flight", maxInFlight)
	case outside(c.Connections, maxInFlight):
		return c, fmt.Errorf("the number of connections is not between 0 and %d", maxInFlight)
	case c.CharsPerToken != 0 && !(c.CharsPerToken >= 0.5 && c.CharsPerToken <= 20):
		return c, fmt.Errorf("%v characters a token is not between 0.5 and 20", c.CharsPerToken)
	case slices.Contains(c.Priorities, ""):
		return c, errors.New("a priority is empty")
	case math.IsNaN(c.PromptSpread) || c.PromptSpread < 0 || c.PromptSpread > 1:
		return c, fmt.Errorf("prompt spread %v is not between 0 and 1", c.PromptSpread)
	}
	base, err := baseURL(c.URL)
	if err != nil {
		return c, err
	}
	c.URL = base
	c.Timeout = orDefault(c.Timeout, 2*time.Minute)
	c.Interval = orDefault(c.Interval, time.Second)
	c.MaxInFlight = orDefault(c.MaxInFlight, 1024)
	return c, nil
}

func outside(n, limit int) bool { return n < 0 || n > limit }

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// baseURL reduces what a user types to scheme, host and path prefix: host:port
// alone means http, the paths of the API and any user:password are cut off.
func baseURL(typed string) (string, error) {
	if typed == "" {
		return "", errors.New("no URL given")
	}
	if !strings.Contains(typed, "://") {
		typed = "http://" + typed
	}
	u, err := url.Parse(typed)
	if err != nil {
		return "", fmt.Errorf("URL: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", fmt.Errorf("URL %q is not http://host:port", typed)
	}
	path := strings.TrimRight(u.Path, "/")
	for _, known := range []string{"/chat/completions", "/completions", "/models", "/metrics", "/health", "/v1"} {
		path = strings.TrimSuffix(path, known)
	}
	return u.Scheme + "://" + u.Host + path, nil
}
