package export

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmtop/probes"
	"llmtop/probes/record"
)

// Trace writes a Chrome trace (JSON object format), as Perfetto and chrome://tracing read
// it: a lane for requests that do not overlap, with a bar for each request and its stages
// within it; counters for queue, batch, KV cache and GPUs; instants for findings, marks,
// gaps and events. Times are microseconds since the first request or sample of the stretch;
// otherData tells the time of that. requests is how many were drawn; an engine that does not
// tell of its requests has none.
func Trace(ctx context.Context, w io.Writer, r *record.Reader, o Options) (requests int, err error) {
	zero, err := o.earliest(ctx, r)
	if err != nil {
		return 0, err
	}
	t := trace{out: bufio.NewWriterSize(w, 64<<10), zero: zero, engines: map[string]*engineLanes{}}
	head, _ := json.Marshal(map[string]any{"start": zero, "made_by": "llmtop"}) // plain texts
	fmt.Fprintf(t.out, "{\"displayTimeUnit\":\"ms\",\"otherData\":%s,\"traceEvents\":[\n", head)
	t.process(ownPID, "llmtop")
	if err := t.rows(ctx, r, o); err != nil {
		return 0, err
	}
	t.out.WriteString("\n]}\n")
	return t.requests, t.out.Flush()
}

// Processes of the trace: llmtop's own readings, then one for each engine.
const (
	ownPID   = 1
	firstPID = 2
	maxLanes = 10_000
	longest  = 7 * 24 * time.Hour // no request is longer; a stage that says so is cut
	markLane = 1
)

// event is one of the trace, with the members of the format's own names.
type event struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	TS    micros         `json:"ts"`
	Dur   *micros        `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Cat   string         `json:"cat,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// micros is a time of the trace in nanoseconds, spelled in microseconds.
type micros int64

func (m micros) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt(nil, int64(m)/1000, 10)
	if rest := int64(m) % 1000; rest > 0 {
		b = fmt.Appendf(b, ".%03d", rest)
	}
	return b, nil
}

type trace struct {
	out      *bufio.Writer
	zero     time.Time
	begun    bool // an event was written
	err      error
	engines  map[string]*engineLanes
	requests int
}

// at is a time of the trace; nothing is before its beginning.
func (t *trace) at(when time.Time) micros { return micros(max(0, when.Sub(t.zero))) }

func (t *trace) write(e event) {
	b, err := json.Marshal(e)
	if err != nil {
		t.err = err
		return
	}
	if t.begun {
		t.out.WriteString(",\n")
	}
	t.begun = true
	t.out.Write(b)
}

func (t *trace) process(pid int, name string) {
	t.write(event{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": name}})
	t.write(event{Name: "process_sort_index", Phase: "M", PID: pid, Args: map[string]any{"sort_index": pid}})
}

// earliest is the time of the first sample or, if that is before, of the first arrival.
func (o *Options) earliest(ctx context.Context, r *record.Reader) (zero time.Time, err error) {
	quiet := *o
	quiet.Progress = func(done, all int) { o.progress(done, 2*all) }
	var last *probes.Sample
	first := func(at time.Time) {
		if !at.IsZero() && (zero.IsZero() || at.Before(zero)) {
			zero = at
		}
	}
	for row, err := range quiet.rows(ctx, r, false) {
		if err != nil {
			return zero, err
		}
		if row.Sample == nil {
			continue
		}
		first(row.Sample.At)
		for _, section := range told(row.Sample, last) {
			for _, q := range section.Finished {
				first(o.notLongAgo(q.Arrived))
			}
			for _, q := range section.Running {
				first(o.notLongAgo(q.Arrived))
			}
		}
		last = row.Sample
	}
	return zero, nil
}

// notLongAgo is an arrival that a request of the stretch can have had.
func (o *Options) notLongAgo(arrived time.Time) time.Time {
	if arrived.Before(o.From.Add(-longest)) {
		return time.Time{}
	}
	return arrived
}

// told are the sections of requests that the sample before did not have. Behind a gap the
// same section is another value; its time tells.
func told(s, last *probes.Sample) (out []*probes.Requests) {
	for _, section := range s.Requests {
		same := func(r *probes.Requests) bool {
			return r == section || r != nil && r.Endpoint == section.Endpoint && r.At.Equal(section.At)
		}
		if section != nil && (last == nil || !slices.ContainsFunc(last.Requests, same)) {
			out = append(out, section)
		}
	}
	return out
}

func (t *trace) rows(ctx context.Context, r *record.Reader, o Options) error {
	late := o
	late.Progress = func(done, all int) { o.progress(all+done, 2*all) }
	var last *probes.Sample
	for row, err := range late.rows(ctx, r, true) {
		if err != nil {
			return err
		}
		switch {
		case row.Sample != nil:
			t.counters(row, last)
			for _, section := range told(row.Sample, last) {
				t.finished(section)
			}
			for _, e := range row.Sample.Events {
				t.instant(e.At, "event", e.Kind, map[string]any{"text": e.Text})
			}
			last = row.Sample
		case row.Finding != nil:
			f := row.Finding
			t.instant(f.At, "finding", strings.TrimSpace(f.State+" "+f.Cause), map[string]any{"line": f.Line})
		case row.Mark != nil:
			t.instant(row.Mark.At, "mark", row.Mark.Text, nil)
		case row.Gap != nil:
			t.instant(row.Gap.From, "gap", "gap", map[string]any{"samples": row.Gap.Dropped, "reason": row.Gap.Reason})
		}
		if t.err != nil {
			return t.err
		}
	}
	if last != nil {
		for _, section := range last.Requests {
			t.running(section)
		}
	}
	return t.err
}

// instant is a thing that happened at a moment, drawn through all lanes.
func (t *trace) instant(at time.Time, kind, name string, args map[string]any) {
	t.write(event{Name: name, Phase: "i", TS: t.at(at), PID: ownPID, TID: markLane, Cat: kind, Scope: "g", Args: args})
}

// counters are the readings of a sample that make curves. What is not seen makes no point.
func (t *trace) counters(r row, last *probes.Sample) {
	for _, c := range []struct{ name, signal, unit string }{
		{"queue depth", "queue.depth", "requests"}, {"running", "batch.running", "requests"}, {"KV cache usage", "kv.usage", "ratio"},
	} {
		t.counter(r.Sample.At, c.name, c.unit, r.tick.Signals.Get(c.signal))
	}
	gpu := r.Sample.GPU
	if gpu == nil || last != nil && last.GPU != nil && last.GPU.At.Equal(gpu.At) {
		return
	}
	for i := range gpu.Devices {
		d := &gpu.Devices[i]
		name := fmt.Sprintf("GPU %d ", d.Index)
		t.counter(gpu.At, name+"power", "watts", d.PowerWatts)
		t.counter(gpu.At, name+"SM active", "ratio", d.SMActiveRatio)
	}
}

func (t *trace) counter(at time.Time, name, unit string, v probes.Opt[float64]) {
	if x, ok := v.Get(); ok && !math.IsNaN(x) && !math.IsInf(x, 0) {
		t.write(event{Name: name, Phase: "C", TS: t.at(at), PID: ownPID, Args: map[string]any{unit: x}})
	}
}
