package twin

import (
	"fmt"
	"math"
	"strings"
	"time"

	"llmtop/probes"
)

// summary measures the requests that engines told of and that came to their end.
type summary struct {
	prompt, output  float64 // tokens
	ttft, tpot, e2e quantiles
}

// add takes requests in; those that ended before a time are of no interest.
func (s *summary) add(finished []*probes.Request) {
	for _, q := range finished {
		if q.Finish != "stop" && q.Finish != "length" {
			continue
		}
		s.prompt += float64(q.PromptTokens)
		s.output += float64(q.OutputTokens)
		s.ttft.add(q.TTFTSeconds.Or(0))
		s.e2e.add(q.E2ESeconds.Or(0))
		if v, ok := q.TPOTSeconds(); ok {
			s.tpot.add(v)
		}
	}
}

// text says what became of all requests from one tally to another, and how long those took that were told of:
// what fails with its process, or never gets to one, has no record.
func (s *summary) text(since, now Tally, open int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "requests  %d done", now.Finished-since.Finished)
	for _, row := range []struct {
		n    uint64
		what string
	}{{now.Failed - since.Failed, "failed"}, {now.Aborted - since.Aborted, "aborted"}, {now.Rejected - since.Rejected, "rejected"}} {
		if row.n > 0 {
			fmt.Fprintf(&b, ", %d %s", row.n, row.what)
		}
	}
	fmt.Fprintf(&b, ", %d in flight\n", open)
	told := float64(s.e2e.total)
	if told == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "tokens    %.0f in, %.0f out a request\n", s.prompt/told, s.output/told)
	for _, row := range []struct {
		name string
		q    *quantiles
	}{{"TTFT", &s.ttft}, {"TPOT", &s.tpot}, {"E2E", &s.e2e}} {
		fmt.Fprintf(&b, "%-9s p50 %s  p95 %s  p99 %s\n", row.name, brief(row.q.at(0.5)), brief(row.q.at(0.95)), brief(row.q.at(0.99)))
	}
	return b.String()
}

// quantiles counts durations in classes that are 2 % wide, from 1 µs to days.
type quantiles struct {
	counts [1400]int
	total  int
}

const classWidth = 1.02

func (q *quantiles) add(seconds float64) {
	class := 0
	if seconds > 1e-6 {
		class = min(len(q.counts)-1, int(math.Log(seconds*1e6)/math.Log(classWidth)))
	}
	q.counts[class]++
	q.total++
}

// at is the quantile, within 1 %.
func (q *quantiles) at(p float64) time.Duration {
	rank := int(p * float64(q.total))
	for class, n := range q.counts {
		if rank -= n; rank < 0 {
			return time.Duration(1e3 * math.Pow(classWidth, float64(class)+0.5)).Round(10 * time.Microsecond)
		}
	}
	return 0
}

// brief is a duration with the digits that it is worth, in milliseconds or seconds.
func brief(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 0.01:
		return fmt.Sprintf("%.1f ms", 1000*s)
	case s < 1:
		return fmt.Sprintf("%.0f ms", 1000*s)
	case s < 10:
		return fmt.Sprintf("%.1f s", s)
	default:
		return fmt.Sprintf("%.0f s", s)
	}
}
