package rules

import (
	"time"

	"llmtop/probes"
)

const (
	nowSpan    = 10 * time.Second // what "now" means
	wideSpan   = 30 * time.Second // when nowSpan holds fewer than enough observations
	recentSpan = 3 * time.Second  // the newest part, which tells a passing burst from a standing change
	enough     = 5                // observations for a quantile worth the name [proposal]
	facts      = 2 * time.Minute  // how long a CPU profile stands for now
)

// now is one tick with everything that several signals share, computed once.
type now struct {
	at     time.Time
	point  *probes.Point
	span   probes.View // nowSpan
	wide   probes.View // wideSpan
	recent probes.View // recentSpan
	stale  time.Duration
	ends   []string // endpoints of the engines in the newest point

	exact         bool // per-request records are at hand
	records       records
	firsts        []observation // the requests behind ttft.*
	ttft, tpot    latency
	e2e           latency
	ttftNow       quick // the newest part of each
	tpotNow       quick
	e2eNow        quick
	prompt        latency
	output        latency
	step          *probes.Histogram
	stages        stageMeans
	gpuShare      gpuShares
	gaugesAreDead bool
}

// The families whose newest requests are watched.
const (
	quickTTFT = iota
	quickTPOT
	quickE2E
	numQuick
	noQuick = -1
)

// newest are the medians of the newest requests, by family.
func (n *now) newest() [numQuick]quick { return [numQuick]quick{n.ttftNow, n.tpotNow, n.e2eNow} }

// quick is the median of the newest part and how many observations stand behind it.
type quick struct {
	median probes.Opt[float64]
	n      float64
}

// look computes the shared part of a tick from the newest point of the window.
func look(w *probes.Window, p *probes.Point) *now {
	n := &now{at: p.At, point: p, span: w.Since(nowSpan), wide: w.Since(wideSpan), recent: w.Since(recentSpan)}
	n.stale = max(3*p.Interval, 5*time.Second)
	for _, e := range p.Engines {
		n.ends = append(n.ends, e.Endpoint)
	}
	n.gaugesAreDead = n.frozen()
	n.records = gather(n)
	n.exact = n.records.seen && n.allTell()
	if n.exact {
		n.fromRecords()
	} else {
		n.fromHistograms()
	}
	n.step = n.observed(n.span, func(e *probes.Engine) *probes.Histogram { return e.StepTime })
	if n.step == nil || n.step.Count < enough {
		n.step = n.observed(n.wide, func(e *probes.Engine) *probes.Histogram { return e.StepTime })
	}
	n.gpuShare = gpuSharesOf(n.span)
	return n
}

func (n *now) fresh(at time.Time) bool { return n.at.Sub(at) <= n.stale }

// allTell reports that every engine tells of its requests: with one that does not,
// the histograms of all are the only common measure.
func (n *now) allTell() bool {
	tells := map[string]bool{}
	for _, p := range n.wide.Points() {
		for _, s := range p.Requests {
			tells[s.Endpoint] = true
		}
	}
	for _, end := range n.ends {
		if !tells[end] {
			return false
		}
	}
	return true
}

// alive reports that some engine told something lately.
func (n *now) alive() bool {
	for _, e := range n.point.Engines {
		if n.fresh(e.At) {
			return true
		}
	}
	return n.records.seen
}
