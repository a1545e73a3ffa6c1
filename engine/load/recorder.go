package load

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"
)

// recorder gathers outcomes in bounded memory. Not safe for concurrent use.
type recorder struct {
	cfg     Config
	started time.Time
	cpu     time.Duration // of the process, when it began

	lastSend time.Time // when sending was over; zero: it goes on

	sent, capped uint64
	peak         int
	endings      [aborted + 1]uint64
	errors       map[string]*ErrorKind
	tokensIn     uint64
	tokensOut    uint64
	estimated    bool

	ttft, tpot, e2e, prompt, output, lag distribution
}

func newRecorder(c Config, now time.Time) *recorder {
	return &recorder{cfg: c, started: now, cpu: cpuTime(), errors: map[string]*ErrorKind{}}
}

func (r *recorder) sentNow(inFlight int) {
	r.sent++
	r.peak = max(r.peak, inFlight)
}

func (r *recorder) add(o outcome) {
	r.endings[o.end]++
	r.lag.add(o.lag.Seconds())
	switch o.end {
	case failed:
		r.failure(o)
	case completed:
		r.success(o)
	}
}

// failure relies on the kinds being few: fixed words and three-digit codes.
func (r *recorder) failure(o outcome) {
	k := r.errors[o.kind]
	if k == nil {
		k = &ErrorKind{Kind: o.kind, Example: o.err}
		r.errors[o.kind] = k
	}
	k.Count++
}

func (r *recorder) success(o outcome) {
	r.e2e.add(o.e2e.Seconds())
	if o.ttft > 0 {
		r.ttft.add(o.ttft.Seconds())
	}
	if o.tpot > 0 {
		r.tpot.add(o.tpot.Seconds())
	}
	if o.promptTokens > 0 {
		r.prompt.add(float64(o.promptTokens))
	}
	r.output.add(float64(o.outputTokens))
	r.tokensIn += uint64(o.promptTokens)
	r.tokensOut += uint64(o.outputTokens)
	r.estimated = r.estimated || o.estimated
}

// sending is for how many seconds requests were sent.
func (r *recorder) sending(now time.Time) float64 {
	if !r.lastSend.IsZero() {
		now = r.lastSend
	}
	return max(now.Sub(r.started).Seconds(), 1e-9)
}

func (r *recorder) report(now time.Time) Report {
	elapsed := max(now.Sub(r.started).Seconds(), 1e-9)
	return Report{
		URL: r.cfg.URL, Model: r.cfg.Model, Started: r.started.UTC(), ElapsedSeconds: elapsed,
		TargetRate: r.cfg.Rate, SentRate: float64(r.sent) / r.sending(now),
		Sent: r.sent, Completed: r.endings[completed], Rejected: r.endings[rejected],
		TimedOut: r.endings[timedOut], Failed: r.endings[failed], Aborted: r.endings[aborted],
		Errors: r.errorKinds(),
		TTFT:   r.ttft.summary(), TPOT: r.tpot.summary(), E2E: r.e2e.summary(),
		Prompt: r.prompt.summary(), Output: r.output.summary(),
		Tokens: TokenThroughput{In: r.tokensIn, Out: r.tokensOut, OutPerSecond: float64(r.tokensOut) / elapsed, Estimated: r.estimated},
		Client: r.client(elapsed),
	}
}

// errorKinds lists the failures, the most frequent first.
func (r *recorder) errorKinds() []ErrorKind {
	var kinds []ErrorKind
	for _, name := range slices.Sorted(maps.Keys(r.errors)) {
		kinds = append(kinds, *r.errors[name])
	}
	slices.SortStableFunc(kinds, func(a, b ErrorKind) int { return int(b.Count) - int(a.Count) })
	return kinds
}

func (r *recorder) client(elapsed float64) Client {
	c := Client{
		CPUCores: (cpuTime() - r.cpu).Seconds() / elapsed, Cores: runtime.GOMAXPROCS(0),
		Lag: r.lag.summary(), MaxInFlight: r.peak, Capped: r.capped,
	}
	c.Bottleneck = bottleneck(c, r.ttft.quantile(.99))
	return c
}

// When the client is the bottleneck: it uses most of the processor it may use, or
// its own lateness is more than a tenth of TTFT, compared at the 99th percentile
// (and more than what a machine's timers may be off), or it ran out of requests it
// may have out.
const (
	busyShare = 0.8
	lateShare = 0.1
	lateFloor = 0.005 // s
)

func bottleneck(c Client, ttft99 float64) (why []string) {
	if c.Capped > 0 {
		why = append(why, fmt.Sprintf("%d arrivals were not sent, as %d requests were in flight", c.Capped, c.MaxInFlight))
	}
	if c.CPUCores > busyShare*float64(c.Cores) {
		why = append(why, fmt.Sprintf("the client used %.1f of %d cores", c.CPUCores, c.Cores))
	}
	if c.Lag != nil && c.Lag.P99 > max(lateFloor, lateShare*ttft99) {
		why = append(why, fmt.Sprintf("1 in 100 requests left %s late or more, with a TTFT p99 of %s", seconds(c.Lag.P99), seconds(ttft99)))
	}
	return why
}
