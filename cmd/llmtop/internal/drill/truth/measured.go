package truth

// measured are the latencies and lengths at a moment and the requests behind them.
type measured struct {
	told, ended  []section
	exact, whole bool
	frozen       bool
	ttft, tpot   set
	e2e          set
	prompt       set
	output       set
	step         *counts
	parts        split3
	means        [numParts]float64
	tells        [numParts]bool
	total        float64
}

// set is what is known of one measure: requests one by one, or counts.
type set struct {
	all    []observation
	values []float64
	hist   *counts
	wide   bool
}

func (s *set) count() float64 {
	if s.hist != nil {
		return s.hist.n
	}
	return float64(len(s.values))
}

func (s *set) quantile(q float64) (float64, bool) {
	if s.hist != nil {
		return s.hist.quantile(q)
	}
	return nearestRank(s.values, q)
}

func (s *set) mean() (float64, bool) {
	if s.hist != nil {
		return s.hist.mean()
	}
	total := 0.0
	for _, v := range s.values {
		total += v
	}
	return total / max(1, float64(len(s.values))), len(s.values) > 0
}

// fewerThan reports too little to judge by where another set has enough.
func (s *set) fewerThan(o *set) bool { return (s.wide || s.count() < enough) && o.count() >= enough }

// measure works out what several signals share, once a moment.
func (v view) measure() *measured {
	if m := v.now().measured; m != nil {
		return m
	}
	m := &measured{told: v.told(), ended: v.ended()}
	m.exact, m.whole = v.exact()
	m.frozen = v.frozen()
	if m.exact {
		m.fromRequests()
	}
	if !m.whole {
		m.fromHistograms(v)
	}
	if m.step = v.gathered(v.last(nowSpan), stepTimes); m.step.count() < enough {
		m.step = v.gathered(v.last(wideSpan), stepTimes)
	}
	for i := range m.means {
		m.means[i], m.tells[i] = m.mean(i)
		if m.tells[i] {
			m.total += m.means[i]
		}
	}
	v.now().measured = m
	return m
}

func (m *measured) fromRequests() {
	take := func(of measure) set {
		s := set{all: m.observed(of, nowSpan.Seconds())}
		if len(s.all) < enough {
			s = set{all: m.observed(of, wideSpan.Seconds()), wide: true}
		}
		s.values = valuesOf(s.all)
		return s
	}
	m.ttft, m.tpot, m.e2e = take(ofTTFT), take(ofTPOT), take(ofE2E)
	m.prompt, m.output = take(ofPrompt), take(ofOutput)
	m.parts = split3{ttft: untilFirstToken(m.ttft.all), tpot: decoding(m.tpot.all), e2e: untilEnd(m.e2e.all)}
}

// fromHistograms fills in what requests tell too little of.
func (m *measured) fromHistograms(v view) {
	take := func(h histogram) set {
		s := set{hist: v.gathered(v.last(nowSpan), h)}
		if s.hist.count() < enough {
			s.wide = true
			if wide := v.gathered(v.last(wideSpan), h); wide != nil {
				s.hist = wide
			}
		}
		if s.hist.count() <= 0 {
			return set{}
		}
		return s
	}
	h := measured{ttft: take(ttftTimes), tpot: take(tpotTimes), e2e: take(e2eTimes), prompt: take(promptLengths), output: take(outputLengths)}
	span := v.last(nowSpan)
	sums := v.sumsOver(span)
	if sums.ttft.count() < enough {
		span = v.last(wideSpan)
		sums = v.sumsOver(span)
	}
	h.parts = sums.split(v.waitingSeconds(span))
	if sums.ttft.count() == 0 && h.parts.ttft.n > 0 {
		h.ttft = set{hist: &counts{n: h.parts.ttft.n, sum: h.parts.ttft.total}}
	}
	h.parts.tpot = decodingCounts(h.tpot.hist)
	m.takeOver(&h)
}

func (m *measured) takeOver(h *measured) {
	all := !m.exact
	if all || m.ttft.fewerThan(&h.ttft) {
		if m.ttft = h.ttft; all || h.parts.ttft.n > 0 {
			m.parts.ttft = h.parts.ttft
		}
	}
	if all || m.tpot.fewerThan(&h.tpot) {
		m.tpot, m.parts.tpot = h.tpot, h.parts.tpot
	}
	if all || m.e2e.fewerThan(&h.e2e) {
		if m.e2e = h.e2e; all || h.parts.e2e.n > 0 {
			m.parts.e2e = h.parts.e2e
		}
	}
	if all || m.prompt.fewerThan(&h.prompt) {
		m.prompt = h.prompt
	}
	if all || m.output.fewerThan(&h.output) {
		m.output = h.output
	}
}
