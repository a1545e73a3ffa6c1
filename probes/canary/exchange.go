package canary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"

	"llmtop/probes"
)

// outcome is how one request fared.
type outcome struct {
	path   string
	status int // HTTP; 0 without an answer
	err    error
	meter  *meter
	ended  time.Time
}

// refused reports an engine that is there and takes no more at the moment.
func (o *outcome) refused() bool {
	return o.status == http.StatusTooManyRequests || o.status == http.StatusServiceUnavailable
}

// section is the outcome as a sample carries it. A canary that failed has no times but
// that of dialling.
func (o *outcome) section() *probes.Canary {
	c := &probes.Canary{At: probes.Stamp(o.ended), Status: o.status}
	o.meter.dial(c)
	if o.err != nil {
		c.Err = probes.Printable(withoutURL(o.err.Error()), 300)
		return c
	}
	o.meter.fill(c)
	return c
}

// withoutURL drops the address that an error begins with: the section has the endpoint.
func withoutURL(text string) string {
	if before, after, ok := strings.Cut(text, ": "); ok && strings.Contains(before, "://") {
		return after
	}
	return text
}

// exchange sends one request and reads its answer to the end.
func (p *Probe) exchange(ctx context.Context, a *api) outcome {
	p.number++
	o := outcome{path: a.path, meter: &meter{began: time.Now()}}
	page := p.page(a.path)
	header := map[string]string{
		"Content-Type": "application/json", "Accept": "text/event-stream",
		"X-Request-Id": userName + "-" + strconv.FormatUint(uint64(p.number), 10),
	}
	response, err := page.Post(httptrace.WithClientTrace(ctx, o.meter.trace()), header, a.request(p.model))
	if err != nil {
		o.err, o.ended = o.meter.late(err), time.Now()
		return o
	}
	defer response.Body.Close()
	o.status = response.StatusCode
	if o.status == http.StatusOK {
		o.err = o.meter.read(response.Body)
		if errors.Is(o.err, errNoStream) {
			o.err = fmt.Errorf("%w: the answer is %s", errNoStream, kindOf(response.Header.Get("Content-Type")))
		}
		o.err = o.meter.late(o.err)
	} else {
		o.err = refusal(response)
	}
	if o.err != nil && !strings.Contains(o.err.Error(), page.URL()) {
		o.err = fmt.Errorf("%s: %w", page.URL(), o.err)
	}
	o.ended = time.Now()
	return o
}

func (p *Probe) page(path string) *probes.Fetcher {
	f := p.pages[path]
	if f == nil {
		f = probes.NewFetcher(p.address, path, p.fetchOptions(p.o.Timeout))
		p.pages[path] = f
	}
	return f
}

// refusal puts an answer that is no stream into words: its status, and what kind of
// error it calls itself. Its message may repeat what was sent and is left out.
func refusal(r *http.Response) error {
	says := strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
	head, _ := io.ReadAll(io.LimitReader(r.Body, 16<<10)) // the status tells enough
	if kind := errorKind(head); kind != "" {
		says += " (" + kind + ")"
	}
	if r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden {
		return fmt.Errorf("the server wants credentials: it answered %s", says)
	}
	return fmt.Errorf("the server answered %s", says)
}

// kindOf names a content type without repeating what a server made up.
func kindOf(contentType string) string {
	for _, known := range []struct{ prefix, word string }{
		{"text/html", "HTML"}, {"application/json", "JSON"}, {"text/event-stream", "a stream without tokens"}, {"text/plain", "text"}, {"", "something else"},
	} {
		if strings.HasPrefix(contentType, known.prefix) {
			return known.word
		}
	}
	return ""
}
