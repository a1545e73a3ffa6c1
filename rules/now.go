package rules

import (
	"time"

	"llmtop/probes"
)

const (
	nowSpan    = 10 * time.Second       // what "now" means
	wideSpan   = 30 * time.Second       // when nowSpan holds fewer than enough observations
	recentSpan = 3 * time.Second        // the newest part, which tells a passing burst from a standing change
	lookSpan   = wideSpan + time.Second // of samples: no signal looks at older ones
	enough     = 5                      // observations for a quantile worth the name [proposal]
	facts      = 2 * time.Minute        // how long a CPU profile stands for now
)

// now is one tick with everything that several signals share, computed once.
type now struct {
	at     time.Time
	point  *probes.Point
	span   lookback // nowSpan
	wide   lookback // wideSpan
	recent lookback // recentSpan
	stale  time.Duration
	ends   []string // endpoints of the engines in the newest point

	exact         bool // per-request records are at hand; see whole
	records       records
	firsts        spanSet // the requests behind ttft.*
	ttft, tpot    latency
	e2e           latency
	ttftNow       quick // the newest part of each
	tpotNow       quick
	e2eNow        quick
	prompt        latency
	output        latency
	step          *probes.Histogram
	stages        stageMeans
	means         [numParts]probes.Opt[float64] // seconds per request of each part
	total         float64                       // of means
	gpus          *gpus
	gaugesAreDead bool
	told          []Instance
	silence       silence
	broke         map[string]time.Time // when the engines behind an endpoint last did not go on as they were
	buckets       []Bucket
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

// look computes the shared part of a tick with nothing carried over from the one before.
func look(w *probes.Window, p *probes.Point) *now { return newLedger().look(w, p) }

// look computes the shared part of a tick from the newest point of the window.
func (l *ledger) look(w *probes.Window, p *probes.Point) *now {
	n := &now{at: p.At, point: p, span: lookback{View: w.Since(nowSpan)}, wide: lookback{View: w.Since(wideSpan)}, recent: lookback{View: w.Since(recentSpan)}}
	n.stale = max(3*p.Interval, 5*time.Second)
	for _, e := range p.Engines {
		n.ends = append(n.ends, e.Endpoint)
	}
	n.broke = l.breaks.in(p, w.Since(lookSpan))
	n.gaugesAreDead = n.frozen()
	n.records = gather(n, l)
	n.exact = n.records.seen && n.allTell()
	if n.exact {
		n.fromRecords()
		if n.records.partial {
			n.fillFromHistograms()
		}
	} else {
		n.fromHistograms()
	}
	n.step = n.observed(&n.span, stepHistogram)
	if n.step == nil || n.step.Count < enough {
		n.step = n.observed(&n.wide, stepHistogram)
	}
	for i := range n.means {
		n.means[i] = n.stageMean(i)
		n.total += n.means[i].Or(0)
	}
	n.gpus = &l.gpus
	n.gpus.look(n)
	n.told = n.instances()
	n.buckets = buckets(n)
	return n
}

func (n *now) fresh(at time.Time) bool { return n.at.Sub(at) <= n.stale }

// allTell reports that every engine tells of its requests: with one that does not,
// the histograms of all are the only common measure.
func (n *now) allTell() bool {
	for _, end := range n.ends {
		if !n.tells(end) {
			return false
		}
	}
	return true
}

// tells reports that an engine told of its requests in the wide span.
func (n *now) tells(endpoint string) bool {
	points := n.wide.Points()
	for i := len(points) - 1; i >= 0; i-- { // mostly in the newest
		for _, s := range points[i].Requests {
			if s.Endpoint == endpoint && (!s.FinishedOnly || n.stands(s)) {
				return true
			}
		}
	}
	return false
}

// alive reports that some engine told something lately.
func (n *now) alive() bool {
	for _, e := range n.point.Engines {
		if n.fresh(e.At) {
			return true
		}
	}
	return n.records.seen && (!n.records.partial || len(n.ends) == 0)
}

// whole reports that the records are of all requests, those in flight included: they can
// be counted. Records that are a sample of what finished are good for latencies and
// stages; how many there are, and what is in flight, is the counters' and gauges' to tell.
func (n *now) whole() bool { return n.exact && !n.records.partial }
