package engine

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"
)

// LogMode says who writes the lines of an EventLog.
type LogMode int

// The modes.
const (
	LogAsync LogMode = iota // a goroutine of the log's own: nobody waits, lines may be dropped
	LogSync                 // whoever has something to tell, the engine's loop included: a slow disk stops the engine
)

// EventLog writes what happens to requests, a JSON object a line: received,
// rejected, scheduled, first_token, finished, and step_failed. It tells lengths and times, never
// text; ids are hashed as at /debug/requests. A nil EventLog writes nothing.
type EventLog struct {
	logger  *slog.Logger
	lines   *lineWriter // nil: synchronous
	dropped atomic.Int64
}

// NewEventLog writes to w. The caller closes the log when the last request has ended.
func NewEventLog(w io.Writer, mode LogMode) *EventLog {
	l := &EventLog{}
	if mode == LogAsync {
		l.lines = newLineWriter(w, &l.dropped)
		w = l.lines
	} else {
		w = countingWriter{w, &l.dropped}
	}
	l.logger = slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: withoutLevel}))
	return l
}

// withoutLevel leaves out what is the same in every line.
func withoutLevel(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) > 0:
	case a.Key == slog.LevelKey:
		return slog.Attr{}
	case a.Key == slog.MessageKey:
		a.Key = "event"
	}
	return a
}

// Dropped is how many lines were lost, because the writer did not keep up or failed.
func (l *EventLog) Dropped() int64 {
	if l == nil {
		return 0
	}
	return l.dropped.Load()
}

// Close writes what waits to be written; the error says that it could not be.
func (l *EventLog) Close() error {
	if l == nil || l.lines == nil {
		return nil
	}
	return l.lines.Close()
}

// write adds a line about a request. The time is the engine's.
func (l *EventLog) write(event string, f facts, at time.Time, attrs ...slog.Attr) {
	r := slog.NewRecord(at, slog.LevelInfo, event, 0)
	r.AddAttrs(slog.String("id", f.id), slog.String("class", f.class.String()))
	r.AddAttrs(attrs...)
	_ = l.logger.Handler().Handle(context.Background(), r) // a writer that fails is counted
}

// received tells of a request that is valid and queued.
func (l *EventLog) received(r *record, maxTokens int, at time.Time) {
	if l == nil {
		return
	}
	f := r.snapshot()
	l.write("received", f, at, slog.Bool("stream", f.stream), slog.Int("prompt_bytes", f.promptBytes),
		slog.Int("prompt_tokens", f.promptTokens), slog.Int("max_tokens", maxTokens), since(f, at))
}

// rejected tells of a request that is answered with an error instead of being queued.
func (l *EventLog) rejected(r *record, e *apiError, at time.Time) {
	if l == nil {
		return
	}
	f := r.snapshot()
	l.write("rejected", f, at, slog.Int("status", e.status), slog.String("code", e.code), slog.String("param", e.param),
		slog.Int("prompt_bytes", f.promptBytes), since(f, at))
}

// scheduled tells that a request begins to run, or begins again after a preemption.
func (l *EventLog) scheduled(r *record, at time.Time) {
	if l == nil {
		return
	}
	f := r.snapshot()
	l.write("scheduled", f, at, slog.Int("cached_tokens", f.cachedTokens), slog.Int("preemptions", f.preemptions),
		slog.Float64("queue_seconds", f.between(StageQueue, StageQueue).Seconds()))
}

// firstToken tells that a request's first token is sampled.
func (l *EventLog) firstToken(r *record, at time.Time) {
	if l == nil {
		return
	}
	f := r.snapshot()
	l.write("first_token", f, at, slog.Float64("prefill_seconds", f.between(StagePrefill, StagePrefill).Seconds()), since(f, at))
}

// stepFailed tells why a step could not be computed, which ended so many requests.
func (l *EventLog) stepFailed(err error, requests int, at time.Time) {
	if l == nil {
		return
	}
	r := slog.NewRecord(at, slog.LevelError, "step_failed", 0)
	r.AddAttrs(slog.String("error", err.Error()), slog.Int("requests", requests))
	_ = l.logger.Handler().Handle(context.Background(), r) // a writer that fails is counted
}

// finished tells the end of a request, whatever it was, with what is known of it then.
func (l *EventLog) finished(r *record, at time.Time) {
	if l == nil {
		return
	}
	f := r.snapshot()
	l.write("finished", f, at, slog.String("finish_reason", string(f.finish)),
		slog.Int("prompt_tokens", f.promptTokens), slog.Int("cached_tokens", f.cachedTokens), slog.Int("output_tokens", f.outputTokens),
		slog.Int("preemptions", f.preemptions),
		slog.Float64("queue_seconds", f.between(StageQueue, StageQueue).Seconds()),
		slog.Float64("prefill_seconds", f.between(StageBatch, StagePrefill).Seconds()),
		slog.Float64("decode_seconds", f.between(StageDecode, StageDecode).Seconds()),
		slog.Float64("ttft_seconds", f.ttft.Seconds()), slog.Float64("e2e_seconds", f.line.Total().Seconds()))
}

// since is the time since the request arrived.
func since(f facts, at time.Time) slog.Attr {
	return slog.Float64("elapsed_seconds", max(0, at.Sub(f.line.arrived).Seconds()))
}
