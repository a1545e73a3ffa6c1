package load

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// String is the report for people, aligned, without a final newline.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, model %s, %s\n", r.URL, oneLine(r.Model), seconds(r.ElapsedSeconds))
	fmt.Fprintf(&b, "requests   %d sent (%.2f/s, asked for %.2f/s), %d completed, %d rejected (429), %d timed out, %d failed",
		r.Sent, r.SentRate, r.TargetRate, r.Completed, r.Rejected, r.TimedOut, r.Failed)
	if r.Aborted > 0 {
		fmt.Fprintf(&b, ", %d aborted at the end", r.Aborted)
	}
	if r.InFlight > 0 {
		fmt.Fprintf(&b, ", %d in flight", r.InFlight)
	}
	fmt.Fprintf(&b, "\ntokens     %.1f/s out, %d out, %d in%s\n\n", r.Tokens.OutPerSecond, r.Tokens.Out, r.Tokens.In, estimated(r.Tokens.Estimated))
	b.WriteString(r.table())
	for _, e := range r.Errors {
		fmt.Fprintf(&b, "%6d × %s: %s\n", e.Count, e.Kind, e.Example)
	}
	if lost := r.TimedOut + r.Failed + r.Aborted; lost > 0 {
		fmt.Fprintf(&b, "%d unfinished requests are in no latency above\n", lost)
	}
	b.WriteString(r.Client.String())
	return b.String()
}

func estimated(yes bool) string {
	if yes {
		return " (the server sent no usage: chunks counted)"
	}
	return ""
}

func (r Report) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tmean\tp50\tp90\tp95\tp99\tmax\t")
	row(w, "TTFT", r.TTFT, seconds)
	row(w, "TPOT", r.TPOT, seconds)
	row(w, "E2E", r.E2E, seconds)
	row(w, "tokens in", r.Prompt, count)
	row(w, "tokens out", r.Output, count)
	w.Flush() // a strings.Builder takes everything
	return b.String()
}

func row(w *tabwriter.Writer, name string, s *Summary, show func(float64) string) {
	if s == nil {
		fmt.Fprintf(w, "%s\t-\t-\t-\t-\t-\t-\t\n", name)
		return
	}
	fmt.Fprint(w, name, "\t")
	for _, v := range []float64{s.Mean, s.P50, s.P90, s.P95, s.P99, s.Max} {
		fmt.Fprint(w, show(v), "\t")
	}
	fmt.Fprintln(w)
}

// seconds shows three digits that matter, in the unit they are read best.
func seconds(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", s*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", s*1e3)
	case d < 100*time.Second:
		return fmt.Sprintf("%.2f s", s)
	default:
		return fmt.Sprintf("%.0f s", s)
	}
}

func count(n float64) string { return fmt.Sprintf("%.0f", n) }

// String is one line: the verdict on the client and what it rests on.
func (c Client) String() string {
	late := "-"
	if c.Lag != nil {
		late = seconds(c.Lag.P99)
	}
	facts := fmt.Sprintf("%.2f of %d cores, sends late by %s (p99), at most %d in flight", c.CPUCores, c.Cores, late, c.MaxInFlight)
	if len(c.Bottleneck) == 0 {
		return "client     not the bottleneck: " + facts
	}
	return "client     IS THE BOTTLENECK, the numbers above are partly its own: " + strings.Join(c.Bottleneck, "; ") + " (" + facts + ")"
}
