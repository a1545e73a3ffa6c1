package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// client speaks the OpenAI API to one server.
type client struct {
	http    *http.Client
	base    string
	key     string
	model   string
	timeout time.Duration
	output  int
	force   bool
}

func newClient(c Config) *client {
	rt := c.Transport
	if rt == nil {
		rt = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			MaxIdleConnsPerHost: c.MaxInFlight,
			MaxConnsPerHost:     c.Connections,
			IdleConnTimeout:     30 * time.Second,
			DisableCompression:  true,
		}
	}
	return &client{http: &http.Client{Transport: rt}, base: c.URL, key: c.APIKey, timeout: c.Timeout, output: c.OutputTokens, force: c.ForceOutput}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// helloTimeout bounds the first look at the server.
const helloTimeout = 10 * time.Second

// hello makes sure that a server is there before any load is sent, and returns
// the model to ask for: the one given, else the first that the server lists.
func (c *client) hello(ctx context.Context, model string) (string, error) {
	short, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	res, err := c.send(short, http.MethodGet, "/v1/models", nil)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("no answer from %s: %w", c.base, cause(err))
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return "", fmt.Errorf("%s answers %d: it wants another API key", c.base, res.StatusCode)
	case model != "":
		return model, nil // not every server lists its models
	case res.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s answers %d to /v1/models: name a model, or is this no OpenAI-compatible server?", c.base, res.StatusCode)
	}
	return firstModel(c.base, io.LimitReader(res.Body, maxListing))
}

const maxListing = 1 << 20

func firstModel(base string, body io.Reader) (string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return "", fmt.Errorf("%s/v1/models is no list of models: is this an OpenAI-compatible server?", base)
	}
	if len(list.Data) == 0 || list.Data[0].ID == "" {
		return "", fmt.Errorf("%s/v1/models lists no model", base)
	}
	return list.Data[0].ID, nil
}

func (c *client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	return c.http.Do(req)
}

// body is the JSON of one request; an empty priority is left out. Sampling is at 0.8, seeded: the shipped model
// repeats a few favourite numbers when it is greedy.
func (c *client) body(prompt, priority string, seed int64) []byte {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	b, err := json.Marshal(struct {
		Model         string          `json:"model"`
		Messages      []message       `json:"messages"`
		MaxTokens     int             `json:"max_tokens,omitempty"`
		IgnoreEOS     bool            `json:"ignore_eos,omitempty"`
		Priority      any             `json:"priority,omitempty"`
		Temperature   float64         `json:"temperature"`
		Seed          int64           `json:"seed"`
		Stream        bool            `json:"stream"`
		StreamOptions map[string]bool `json:"stream_options"`
	}{
		c.model, []message{{"user", prompt}}, c.output, c.force && c.output > 0, priorityValue(priority), 0.8, seed,
		true, map[string]bool{"include_usage": true},
	})
	if err != nil {
		panic("marshalling strings and numbers: " + err.Error())
	}
	return b
}

// priorityValue is a priority as JSON has it: a number where it is one, nil where there is none.
func priorityValue(priority string) any {
	if priority == "" {
		return nil
	}
	if n, err := strconv.Atoi(priority); err == nil {
		return n
	}
	return priority
}

// do carries out one request that should have arrived at due.
func (c *client) do(ctx context.Context, body []byte, due time.Time) outcome {
	ctx, cancel := context.WithDeadlineCause(ctx, due.Add(c.timeout), errTimeout)
	defer cancel()
	o := outcome{lag: max(0, time.Since(due))}
	res, err := c.send(ctx, http.MethodPost, "/v1/chat/completions", body)
	if err != nil {
		return o.failed(ctx, "connect", err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		o.end = rejected
		return o
	case res.StatusCode != http.StatusOK:
		return o.failed(ctx, fmt.Sprintf("http %03d", res.StatusCode%1000), errors.New(excerpt(res.Body)))
	}
	var s stream
	kind, err := s.read(res.Body, time.Now)
	if err != nil {
		return o.began(s, due).pending(s, time.Now()).failed(ctx, kind, err)
	}
	o = o.completed(s, due, time.Now())
	// Only a body read to its end gives the connection back for the next request;
	// what little may come now is nobody's latency.
	_, _ = io.CopyN(io.Discard, res.Body, maxTail)
	return o
}

const maxTail = 4096 // bytes after [DONE]: the end of the chunked encoding

// cause is the innermost error: the outer ones repeat the URL.
func cause(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("timed out")
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// excerpt is the beginning of an answer, fit for one line of a terminal.
func excerpt(r io.Reader) string {
	b, _ := io.ReadAll(io.LimitReader(r, 300)) // an answer cut short still says something
	return oneLine(string(b))
}

func oneLine(s string) string {
	if len(s) > 300 {
		s = s[:300]
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) { // escape sequences, right-to-left overrides
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
	return strings.Join(strings.Fields(s), " ")
}
