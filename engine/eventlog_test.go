package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// logBuffer is what a log was written to.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(line)
}

// lines are the events written so far.
func (l *logBuffer) lines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		lines = append(lines, v)
	}
	return lines
}

// The events of a request come in order and tell lengths and times, never text; the
// names are a format that others read.
func TestEventLog(t *testing.T) {
	for _, mode := range []LogMode{LogAsync, LogSync} {
		synctest.Test(t, func(t *testing.T) {
			var out logBuffer
			log := NewEventLog(&out, mode)
			clock := newClock()
			clock.tick = time.Millisecond
			e := startFake(t, func(c *Config, f *fakeRunner) { c.Now, c.Log = clock.now, log })
			e.post(t.Context(), "/v1/completions", `{"prompt":"secret words","max_tokens":3,"priority":"realtime","stream":true}`)
			e.post(t.Context(), "/v1/completions", `{"prompt":"secret words","max_tokens":0}`)
			e.stop()
			if err := log.Close(); err != nil {
				t.Error(err)
			}
			lines := out.lines(t)
			want := []struct{ event, fields string }{
				{"received", "class elapsed_seconds event id max_tokens prompt_bytes prompt_tokens stream time"},
				{"scheduled", "cached_tokens class event id preemptions queue_seconds time"},
				{"first_token", "class elapsed_seconds event id prefill_seconds time"},
				{"finished", "cached_tokens class decode_seconds e2e_seconds event finish_reason id output_tokens preemptions prefill_seconds prompt_tokens queue_seconds time ttft_seconds"},
				{"rejected", "class code elapsed_seconds event id param prompt_bytes status time"},
			}
			if len(lines) != len(want) {
				t.Fatalf("%d lines, want %d: %v", len(lines), len(want), lines)
			}
			for i, w := range want {
				if fields := strings.Join(slices.Sorted(maps.Keys(lines[i])), " "); lines[i]["event"] != w.event || fields != w.fields {
					t.Errorf("line %d: %v: %s; want %s: %s", i, lines[i]["event"], fields, w.event, w.fields)
				}
			}
			finished := e.requests(t, "").Finished[0]
			for field, want := range map[string]any{
				"id": finished.ID, "class": "realtime", "finish_reason": "length", "prompt_tokens": 13.0, "output_tokens": 3.0,
				"e2e_seconds": *finished.E2E, "ttft_seconds": *finished.TTFT, "decode_seconds": finished.Stages["decode"],
			} {
				if lines[3][field] != want {
					t.Errorf("%s is %v, want %v", field, lines[3][field], want)
				}
			}
			if r := lines[4]; r["status"] != 400.0 || r["param"] != "max_tokens" {
				t.Errorf("rejected: %v", r)
			}
			text := expected(3, 3)
			if all := out.b.String(); strings.Contains(all, "secret") || strings.Contains(all, text) || log.Dropped() != 0 {
				t.Errorf("dropped %d; text in %s", log.Dropped(), all)
			}
		})
	}
}

// hangingWriter hangs until it is let go.
type hangingWriter struct {
	logBuffer
	pass chan struct{}
}

func (h *hangingWriter) Write(line []byte) (int, error) {
	<-h.pass
	return h.logBuffer.Write(line)
}

// A writer that hangs stops nobody when the log is asynchronous: lines are dropped
// and counted. The same writer stops the engine when it is synchronous.
func TestHangingLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &hangingWriter{pass: make(chan struct{})}
		log := NewEventLog(out, LogAsync)
		e := startFake(t, func(c *Config, f *fakeRunner) { c.Log = log })
		const requests = logLines // four lines each
		for range requests {
			if w := e.post(t.Context(), "/v1/completions", completion(1, 1, "")); w.Code != 200 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		e.stop()
		synctest.Wait()
		if got, want := log.Dropped(), int64(4*requests-logLines-1); got != want { // one line is being written
			t.Errorf("%d lines were dropped, want %d", got, want)
		}
		if n := counterValue(t, e, "llmtop:log_dropped_total"); n != float64(log.Dropped()) {
			t.Errorf("the metric says %g", n)
		}
		if err := log.Close(); err == nil {
			t.Error("closed although nothing could be written")
		}
		close(out.pass)
		synctest.Wait()
		if n := len(out.lines(t)); n != logLines+1 {
			t.Errorf("%d lines were written in the end", n)
		}
		log.received(&record{}, 1, time.Now()) // comes late: lost, and counted
		if err := log.Close(); err != nil || log.Dropped() != int64(4*requests-logLines) {
			t.Errorf("%v, %d dropped", err, log.Dropped())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		out := &hangingWriter{pass: make(chan struct{})}
		e := startFake(t, func(c *Config, f *fakeRunner) { c.Log = NewEventLog(out, LogSync) })
		defer e.stop()
		over := make(chan int)
		go func() { over <- e.post(t.Context(), "/v1/completions", completion(1, 1, "")).Code }()
		synctest.Wait()
		if e.runner.steps != 0 {
			t.Errorf("%d steps while the log hangs", e.runner.steps)
		}
		close(out.pass)
		if code := <-over; code != 200 {
			t.Errorf("%d", code)
		}
	})
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A writer that fails costs lines, nothing else.
func TestBrokenLog(t *testing.T) {
	for _, mode := range []LogMode{LogAsync, LogSync} {
		log := NewEventLog(brokenWriter{}, mode)
		log.received(&record{}, 1, time.Now())
		if err := log.Close(); err != nil || log.Dropped() != 1 {
			t.Errorf("%v, %d dropped", err, log.Dropped())
		}
	}
	var none *EventLog
	none.received(&record{}, 1, time.Now())
	if err := none.Close(); err != nil || none.Dropped() != 0 {
		t.Error("no log")
	}
}

// BenchmarkEventLog is what a line costs whoever has something to tell.
func BenchmarkEventLog(b *testing.B) {
	for _, mode := range []LogMode{LogAsync, LogSync} {
		b.Run(fmt.Sprintf("mode=%d", mode), func(b *testing.B) {
			log := NewEventLog(&bytes.Buffer{}, mode)
			defer log.Close()
			r, now := &record{}, time.Now()
			b.ReportAllocs()
			for b.Loop() {
				log.scheduled(r, now)
			}
		})
	}
}
