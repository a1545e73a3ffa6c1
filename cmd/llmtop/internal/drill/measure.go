package drill

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"llmtop/engine/twin"
	"llmtop/probes"
)

// Requests that a quantile needs, and values that are kept of a stretch at most: a run has
// fewer.
const (
	leastValues = 5
	mostValues  = 1 << 20
)

// settling is the part of a fault that is not measured: things are on their way then.
const settling = 3 // a third

// measure is the main symptom of a run, from the requests' own times or from what became of all
// of them at their clients. It knows nothing of what is made of the recording.
type measure struct {
	symptom  string
	prefills int // engines that only compute prompts: each of their requests is told again by another
	onset    time.Time
	settled  time.Time
	end      time.Time

	before, during []float64
	calm           *probes.Sample // the last before the onset
	tally          func() twin.Tally
	at             [3]twin.Tally // when the run began, at the onset, when it had settled
	passed         int           // of these
}

func newMeasure(symptom string, s *staged, tally func() twin.Tally) *measure {
	onset := s.Start.Add(s.Onset)
	end := s.Start.Add(s.Duration)
	return &measure{
		symptom: symptom, prefills: s.Prefills, tally: tally,
		onset: onset, settled: settledAt(onset, end), end: end,
	}
}

func settledAt(onset, end time.Time) time.Time { return onset.Add(end.Sub(onset) / settling) }

// observe takes a sample in that the run has just made.
func (m *measure) observe(s *probes.Sample) {
	if m.passed == 0 || m.passed == 1 && !s.At.Before(m.onset) || m.passed == 2 && !s.At.Before(m.settled) {
		m.at[m.passed] = m.tally()
		m.passed++
	}
	value := requestValue(m.symptom)
	if value == nil {
		return
	}
	if s.At.Before(m.onset) {
		m.calm = s
	}
	for n, r := range s.Requests {
		if n < m.prefills {
			continue
		}
		for _, q := range r.Finished {
			m.take(q, s.At, value)
		}
	}
}

// take notes a finished request. Its end lies between this sample and the one before.
func (m *measure) take(q *probes.Request, seen time.Time, value func(*probes.Request) (float64, bool)) {
	if q.Finish != "stop" && q.Finish != "length" {
		return
	}
	v, ok := value(q)
	if !ok {
		return
	}
	ended := q.Arrived.Add(time.Duration(q.E2ESeconds.Or(seen.Sub(q.Arrived).Seconds()) * float64(time.Second)))
	switch {
	case ended.Before(m.onset):
		m.before = keepValue(m.before, v)
	case !ended.Before(m.settled):
		m.during = keepValue(m.during, v)
	}
}

func keepValue(to []float64, v float64) []float64 {
	if len(to) >= mostValues {
		return to
	}
	return append(to, v)
}

// result is the symptom before the onset and from when it has settled to the end; last is the
// run's last sample. Requests that were in flight at the end of either stretch count with their
// age, where that is longer than usual. The error says why there is no result.
func (m *measure) result(last *probes.Sample) (before, during float64, err error) {
	if of := tallied[m.symptom]; of != nil {
		if m.passed < len(m.at) {
			return 0, 0, fmt.Errorf("the run ended before its fault")
		}
		now := m.tally()
		from := m.at[2]
		if m.symptom == failedShare { // what is in flight fails at the onset
			from = m.at[1]
		}
		before, ok1 := of(m.at[0], m.at[1])
		during, ok2 := of(from, now)
		if !ok1 || !ok2 {
			return before, during, fmt.Errorf("%s: no request came to its end before the fault, or none while it lasted", m.symptom)
		}
		return before, during, nil
	}
	p := quantileOf(m.symptom)
	if len(m.before) < leastValues {
		return 0, 0, fmt.Errorf("%s: %d requests ended before the fault, too few", m.symptom, len(m.before))
	}
	m.before = m.inFlight(m.before, m.calm, quantile(m.before, p))
	before = quantile(m.before, p)
	m.during = m.inFlight(m.during, last, before)
	if len(m.during) < leastValues {
		return before, 0, fmt.Errorf("%s: %d requests ended or waited while the fault lasted, too few", m.symptom, len(m.during))
	}
	return before, quantile(m.during, p), nil
}

// inFlight adds the requests that had not ended by a sample: what is known of them already, and
// what is not where they have taken longer than was usual.
func (m *measure) inFlight(to []float64, at *probes.Sample, usual float64) []float64 {
	if at == nil {
		return to
	}
	value := requestValue(m.symptom)
	for n, r := range at.Requests {
		if n < m.prefills {
			continue
		}
		for _, q := range r.Running {
			v, final := pending(m.symptom, q, at.At, value)
			if final || v > usual {
				to = keepValue(to, v)
			}
		}
	}
	return to
}

// pending is what a symptom of a request in flight is at least, and whether it stays so.
func pending(symptom string, q *probes.Request, now time.Time, value func(*probes.Request) (float64, bool)) (v float64, final bool) {
	age := now.Sub(q.Arrived).Seconds()
	switch {
	case strings.HasPrefix(symptom, "ttft"):
		ttft, known := q.TTFTSeconds.Get()
		if !known {
			return age, false
		}
		return ttft, true
	case strings.HasPrefix(symptom, "e2e"):
		return age, false
	}
	v, _ = value(q)
	return v, false
}

// requestValue is what a symptom reads of a finished request; nil for those of all requests together.
func requestValue(symptom string) func(*probes.Request) (float64, bool) {
	switch symptom {
	case "ttft.p50", "ttft.p95":
		return func(q *probes.Request) (float64, bool) { return q.TTFTSeconds.Get() }
	case "tpot.p50", "tpot.p95":
		return (*probes.Request).TPOTSeconds
	case "e2e.p50", "e2e.p95":
		return func(q *probes.Request) (float64, bool) { return q.E2ESeconds.Get() }
	case "itl.p95":
		return func(q *probes.Request) (float64, bool) { return q.MaxITLSeconds.Get() }
	}
	return nil
}

const failedShare = "failed"

// tallied are the symptoms of all requests together, from one tally to another.
var tallied = map[string]func(from, to twin.Tally) (float64, bool){
	"client.ttft": func(from, to twin.Tally) (float64, bool) {
		return meanOf(to.ClientTTFT-from.ClientTTFT, to.Finished-from.Finished)
	},
	"client.e2e": func(from, to twin.Tally) (float64, bool) {
		return meanOf(to.ClientE2E-from.ClientE2E, to.Finished-from.Finished)
	},
	failedShare: func(from, to twin.Tally) (float64, bool) {
		failed, came := to.Failed+to.Rejected-from.Failed-from.Rejected, to.Arrived-from.Arrived
		return FailedRatio(failed, came), came > 0
	},
}

// FailedRatio is the symptom failed: 1 + 20 × share of the requests that failed or were refused.
func FailedRatio(failed, came uint64) float64 {
	return 1 + 20*min(1, float64(failed)/float64(max(1, came)))
}

func meanOf(sum time.Duration, n uint64) (float64, bool) {
	return sum.Seconds() / float64(max(1, n)), n > 0
}

// quantileOf is that of a symptom's name.
func quantileOf(symptom string) float64 {
	if strings.HasSuffix(symptom, ".p95") {
		return 0.95
	}
	return 0.5
}

// quantile is the value of that rank, the nearest one.
func quantile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(math.Ceil(p*float64(len(sorted))))-1)]
}
