package host

import (
	"bytes"
	"strconv"

	"llmtop/probes"
)

// cpuGroup is the CPU side of one cgroup.
type cpuGroup struct {
	dir   string
	stat  kept
	cores float64 // quota in cores, 0 when unlimited
	since int     // the pass in which it was first read, 0: not yet
	last  throttling
	grown throttling // since the pass before
}

// throttling is how often a quota stopped a group.
type throttling struct{ periods, throttled, seconds float64 }

func newCPUGroup(dir string) *cpuGroup {
	return &cpuGroup{dir: dir, stat: kept{path: dir + "/cpu.stat"}}
}

// read reads cpu.stat, and now and then the quota, which somebody may change. innermost
// says that the group counts even without a quota.
func (g *cpuGroup) read(p *pass, innermost bool) {
	if g.since == 0 || p.number%slowEvery == 0 {
		g.cores = quotaOf(g.dir)
	}
	g.grown = throttling{}
	if g.cores == 0 && !innermost {
		return
	}
	text, err := p.files.line(&g.stat)
	if err != nil {
		return
	}
	now := throttled(text)
	if g.since > 0 || p.number == 1 {
		g.grown = throttling{max(0, now.periods-g.last.periods), max(0, now.throttled-g.last.throttled), max(0, now.seconds-g.last.seconds)}
	}
	if g.last = now; g.since == 0 {
		g.since = p.number
	}
}

func throttled(text []byte) (t throttling) {
	t.periods, _ = value(text, "nr_periods")
	t.throttled, _ = value(text, "nr_throttled")
	if us, ok := value(text, "throttled_usec"); ok {
		t.seconds = us / 1e6
	} else if ns, ok := value(text, "throttled_time"); ok {
		t.seconds = ns / 1e9
	}
	return t
}

// quotaOf reads cpu.max of version 2 ("quota period" or "max period", microseconds) or
// cpu.cfs_quota_us (-1: none) of version 1.
func quotaOf(dir string) float64 {
	if text, err := read(dir+"/cpu.max", nil); err == nil {
		return quota(bytes.Fields(text))
	}
	q, err := read(dir+"/cpu.cfs_quota_us", nil)
	if err != nil {
		return 0
	}
	period, err := read(dir+"/cpu.cfs_period_us", nil)
	if err != nil {
		return 0
	}
	return quota(append(bytes.Fields(q), bytes.Fields(period)...))
}

// quota is quota over period in cores, 0 when there is none.
func quota(fields [][]byte) float64 {
	if len(fields) < 2 {
		return 0
	}
	q, err1 := strconv.ParseFloat(string(fields[0]), 64)
	period, err2 := strconv.ParseFloat(string(fields[1]), 64)
	if err1 != nil || err2 != nil || q <= 0 || period <= 0 {
		return 0
	}
	return q / period
}

// cpu reads the groups, and tells the one that was throttled most in this interval, or
// else the one told before: at first the one with the tightest quota, or the innermost.
func (g *groups) cpu(p *pass, s *probes.Process) {
	var most, tightest *cpuGroup
	for _, c := range g.cpuList {
		c.read(p, g.innermost[c])
		if c.since == 0 {
			continue
		}
		if c.cores > 0 && (tightest == nil || c.cores < tightest.cores) {
			tightest = c
		}
		if c.grown.seconds > 0 && (most == nil || c.grown.seconds > most.grown.seconds) {
			most = c
		}
	}
	switch {
	case p.number > 1 && most != nil:
		g.told = most
	case g.told != nil && (g.told.cores > 0 || tightest == nil && g.innermost[g.told]):
	case tightest != nil:
		g.told = tightest
	default:
		g.told = g.first()
	}
	s.CgroupPeriodsTotal, s.CgroupThrottledTotal, s.CgroupThrottledSecTotal, s.CPULimitCores = g.none, g.none, g.none, g.none
	if tightest != nil {
		s.CPULimitCores = probes.Some(tightest.cores)
	}
	if g.told == nil {
		return
	}
	g.sum.periods += g.told.grown.periods
	g.sum.throttled += g.told.grown.throttled
	g.sum.seconds += g.told.grown.seconds
	s.CgroupPeriodsTotal, s.CgroupThrottledTotal, s.CgroupThrottledSecTotal = probes.Some(g.sum.periods), probes.Some(g.sum.throttled), probes.Some(g.sum.seconds)
	s.CgroupPath = probes.Printable(g.paths[g.told], 256)
}

// first is the innermost group that could be read.
func (g *groups) first() *cpuGroup {
	for _, c := range g.cpuList {
		if c.since > 0 {
			return c
		}
	}
	return nil
}

// pressureOf reads a file of pressure stall information (kernel documentation,
// accounting/psi): totals are in microseconds, averages in percent.
func pressureOf(r *reader, k *kept) probes.Pressure {
	text, err := r.line(k)
	if err != nil {
		none := probes.None[float64](why(err))
		return probes.Pressure{SomeSecondsTotal: none, FullSecondsTotal: none, SomeAvg10Ratio: none}
	}
	none := probes.None[float64](probes.NotExposed)
	s := probes.Pressure{SomeSecondsTotal: none, FullSecondsTotal: none, SomeAvg10Ratio: none}
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		total, ok := assigned(line, "total")
		if !ok {
			continue
		}
		switch {
		case bytes.HasPrefix(line, []byte("some ")):
			s.SomeSecondsTotal = probes.Some(total / 1e6)
			if avg, ok := assigned(line, "avg10"); ok {
				s.SomeAvg10Ratio = probes.Some(avg / 100)
			}
		case bytes.HasPrefix(line, []byte("full ")):
			s.FullSecondsTotal = probes.Some(total / 1e6)
		}
	}
	return s
}

// assigned finds the number after "key=".
func assigned(line []byte, key string) (float64, bool) {
	for word := range bytes.FieldsSeq(line) {
		if name, number, ok := bytes.Cut(word, []byte("=")); ok && string(name) == key {
			v, err := strconv.ParseFloat(string(number), 64)
			return v, err == nil
		}
	}
	return 0, false
}
