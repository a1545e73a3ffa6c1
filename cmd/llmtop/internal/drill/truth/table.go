package truth

import (
	"slices"
	"strings"

	"llmtop/probes"
)

// row is a signal and how it comes about from the samples up to now; ok is false where
// they do not tell it.
type row struct {
	signal string
	of     func(view) (value float64, ok bool)
}

// table are the signals that the rule book asks for and those that symptoms are made of.
var table = slices.Concat(latencyRows(), loadRows(), engineRows(), stageRows(), hostRows(), processRows(), otherRows(), gpuRows())

var rowOf = func() map[string]int {
	index := map[string]int{}
	for i, r := range table {
		index[r.signal] = i
	}
	return index
}()

// Recomputes reports that a signal is worked out from raw samples here.
func Recomputes(signal string) bool {
	_, ok := rowOf[signal]
	return ok
}

// value is a signal at the newest moment of a view, worked out once.
func (v view) value(signal string) (float64, bool) {
	i, ok := rowOf[signal]
	if !ok {
		return 0, false
	}
	k := &v.now().values[i]
	if !k.done {
		k.value, k.told = table[i].of(v)
		k.done = true
	}
	return k.value, k.told
}

// latencyRows are over the newest 10 s, or 30 s where those hold fewer than five.
func latencyRows() []row {
	var out []row
	for _, l := range []struct {
		name string
		of   func(*measured) *set
	}{{"ttft", func(m *measured) *set { return &m.ttft }}, {"tpot", func(m *measured) *set { return &m.tpot }},
		{"e2e", func(m *measured) *set { return &m.e2e }}, {"step", func(m *measured) *set { return &set{hist: m.step} }}} {
		for _, q := range []struct {
			name string
			q    float64
		}{{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}} {
			out = append(out, row{l.name + "." + q.name, func(v view) (float64, bool) { return l.of(v.measure()).quantile(q.q) }})
		}
		out = append(out, row{l.name + ".mean", func(v view) (float64, bool) { return l.of(v.measure()).mean() }})
	}
	return out
}

func loadRows() []row {
	return []row{
		{"requests.rate", func(v view) (float64, bool) {
			well, _, seconds, ok := v.endings()
			return well / seconds, ok
		}},
		{"arrivals.rate", func(v view) (float64, bool) {
			well, refused, seconds, ok := v.endings()
			more, known := v.moreInFlight()
			return max(0, well+refused+more) / seconds, ok && known
		}},
		{"refused.share", func(v view) (float64, bool) {
			well, refused, _, ok := v.endings()
			return refused / max(1, well+refused), ok && well+refused >= enough
		}},
		{"errors.rate", func(v view) (float64, bool) { return v.engineRate(probes.Client, bad) }},
		{"tokens.out.rate", func(v view) (float64, bool) { return v.engineRate(probes.Tokens, tokensOut) }},
		{"tokens.in.rate", func(v view) (float64, bool) { return v.engineRate(probes.Prompts, tokensIn) }},
		{"prompt.p50", func(v view) (float64, bool) { return v.measure().prompt.quantile(0.5) }},
		{"prompt.p95", func(v view) (float64, bool) { return v.measure().prompt.quantile(0.95) }},
		{"output.p50", func(v view) (float64, bool) { return v.measure().output.quantile(0.5) }},
	}
}

// endings are the requests that ended in the now span, those that were refused apart, and
// the seconds that it covers.
func (v view) endings() (well, refused, seconds float64, ok bool) {
	m := v.measure()
	if begun, _ := v.beginOfRecords(); m.whole && begun > 0 {
		for _, s := range m.ended {
			for _, r := range s.Finished {
				switch {
				case s.ago >= begun:
				case r.Finish == "rejected":
					refused++
				default:
					well++
				}
			}
		}
		return well, refused, begun, true
	}
	span := v.last(nowSpan)
	good, seconds, ok := v.gained(span, probes.Client, finished)
	badly, _, _ := v.gained(span, probes.Client, failed)
	refused, _, _ = v.gained(span, probes.Client, rejected)
	return good + badly, refused, seconds, ok && seconds > 0
}

// beginOfRecords is how long ago the now span's first sections were read, and how many
// requests were in flight then.
func (v view) beginOfRecords() (ago, inFlight float64) {
	first := map[string]bool{}
	for _, m := range v.last(nowSpan) {
		for _, s := range v.sectionsOf(m) {
			if len(first) == 0 {
				ago = v.now().At.Sub(m.At).Seconds()
			}
			if !first[s.Endpoint] {
				first[s.Endpoint] = true
				inFlight += float64(s.InFlight)
			}
		}
	}
	return ago, inFlight
}

// moreInFlight is by how much the requests in flight grew over the now span.
func (v view) moreInFlight() (more float64, ok bool) {
	if m := v.measure(); m.whole {
		_, first := v.beginOfRecords()
		for _, s := range m.told {
			more += float64(s.InFlight)
		}
		return more - first, true
	}
	var both number = func(e *probes.Engine) probes.Opt[float64] {
		if !e.Running.Seen() || !e.Waiting.Seen() {
			return probes.Opt[float64]{}
		}
		return probes.Some(e.Running.Or(0) + e.Waiting.Or(0))
	}
	for _, e := range counters(v.speakers(probes.Scheduler, running.told), running.told) {
		if rs := v.last(nowSpan).readingsOf(e, both); len(rs) > 1 {
			more, ok = more+rs[len(rs)-1].value-rs[0].value, true
		}
	}
	return more, ok
}

func stageRows() []row {
	var out []row
	for i := range numParts {
		out = append(out, row{"stage." + partName(i) + ".mean", func(v view) (float64, bool) {
			m := v.measure()
			return m.means[i], m.tells[i]
		}}, row{"stage." + partName(i) + ".share", func(v view) (float64, bool) {
			m := v.measure()
			if m.total <= 0 {
				return 0, m.tells[i]
			}
			return m.means[i] / m.total, m.tells[i]
		}})
	}
	return out
}

// otherRows are connections, logs and profiles.
func otherRows() []row {
	rows := []row{{"socket.stuck", stuck}, {"log.failures", func(v view) (float64, bool) {
		return v.lines("engine-died", "cuda-error", "nccl", "xid", "oom")
	}}}
	for _, what := range []string{"tokenize", "detokenize", "model", "gc", "json", "lock", "send", "other"} {
		rows = append(rows, row{"profile." + what + "_share", func(v view) (float64, bool) {
			f := v.now().facts
			if f == nil || v.now().At.Sub(f.At) > profileSpan {
				return 0, false
			}
			return f.Share[what], true
		}})
	}
	return rows
}

// stuck counts the connections whose client left too much for more than readsSlowly seconds.
func stuck(v view) (count float64, ok bool) {
	s := v.now().Sockets
	if s == nil || !v.stands(s.At) {
		return 0, false
	}
	ok = len(s.Full) == 0 && s.Connections.Seen()
	for i := range s.Full {
		if x, told := s.Full[i].StuckSeconds.Get(); told {
			count, ok = count+one(x > readsSlowly), true
		}
	}
	return count, ok
}

// lines counts what the logs counted of these kinds in the wide span.
func (v view) lines(kinds ...string) (total float64, ok bool) {
	for _, l := range v.now().Logs {
		if !v.stands(l.At) {
			continue
		}
		came, _, told := growth(v.last(wideSpan).readings(func(m *moment) (reading, bool) {
			for _, then := range m.Logs {
				if then.Source == l.Source {
					return reading{then.At, countedIn(then, kinds)}, true
				}
			}
			return reading{}, false
		}))
		total, ok = total+came, ok || told
	}
	return total, ok
}

func countedIn(l *probes.EngineLog, kinds []string) (total float64) {
	for _, c := range l.Counts {
		if slices.Contains(kinds, c.Kind) {
			total += c.Total
		}
	}
	return total
}

// signalsIn are the signals of the table of rules that a clause names.
func signalsIn(clause string) (out []string) {
	for _, word := range strings.FieldsFunc(clause, func(r rune) bool { return !isNameRune(r) }) {
		if _, ok := titles.named[word]; ok && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '.'
}
