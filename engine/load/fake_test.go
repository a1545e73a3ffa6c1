package load

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// fakeServer answers in process, so that time can be virtual. Only answer is
// required; it writes the events of a streamed answer.
type fakeServer struct {
	answer func(w *events)
	refuse func(n int) *http.Response // an answer other than a stream, nil for none

	mu      sync.Mutex
	arrived []time.Time
	bodies  []requestBody
}

type requestBody struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	IgnoreEOS bool   `json:"ignore_eos"`
	Priority  any    `json:"priority"`
	Stream    bool   `json:"stream"`
	Messages  []struct{ Content string }
	Options   struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// events writes a stream; every wait in it ends when the client goes away.
type events struct {
	w    *io.PipeWriter
	gone <-chan struct{}
}

func (e *events) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-e.gone:
	}
}

func (e *events) raw(s string) { _, _ = io.WriteString(e.w, s) } // the client may have gone: its own business

func (e *events) text(s string) {
	e.raw(fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", s))
}

func (e *events) finish(promptTokens, outputTokens int) {
	e.raw("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
	e.raw(fmt.Sprintf("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\n", promptTokens, outputTokens))
	e.raw("data: [DONE]\n\n")
}

func (f *fakeServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return response(200, `{"data":[{"id":"fake-model"}]}`), nil
	}
	n := f.note(r)
	if f.refuse != nil {
		if res := f.refuse(n); res != nil {
			return res, nil
		}
	}
	pr, pw := io.Pipe()
	go func() {
		f.answer(&events{pw, r.Context().Done()})
		pw.CloseWithError(r.Context().Err()) // nil means EOF
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: pr, Request: r}, nil
}

func (f *fakeServer) note(r *http.Request) (n int) {
	var b requestBody
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		panic(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.arrived = append(f.arrived, time.Now())
	f.bodies = append(f.bodies, b)
	return len(f.arrived)
}

func response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// threeTokens takes a second to the first of three tokens and 100 ms between them.
func threeTokens(w *events) {
	w.wait(time.Second)
	w.text("The ")
	w.wait(100 * time.Millisecond)
	w.text("queue ")
	w.wait(100 * time.Millisecond)
	w.text("grew.")
	w.finish(12, 3)
}
