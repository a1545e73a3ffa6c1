package truth

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmtop/rules"
)

// titles are how signals are called for people.
var titles = func() (t struct {
	named map[string]rules.Signal
	words map[string]string // by signal
}) {
	t.named, t.words = map[string]rules.Signal{}, map[string]string{}
	for _, s := range rules.Table() {
		t.named[s.Name] = s
		t.words[s.Name] = s.Title
		if strings.HasPrefix(s.Name, "stage.") && s.Unit == "s" {
			t.words[s.Name] = "time in " + s.Title
		}
	}
	return t
}()

// sentence is one statement of a piece of evidence being read.
type sentence struct {
	c       *Checker
	k       int
	clause  string
	signals []string // it may be about
	about   string   // the last one named
	lies    []string
}

// words reads the numbers of a sentence and holds each against the samples. A number that
// cannot be told what it is of is not true: nobody can check it. Thresholds are those of the
// clause; without one (a risk or a note) they are not looked at.
func (c *Checker) words(k int, says, clause string) []string {
	s := &sentence{c: c, k: k, clause: clause, signals: signalsIn(clause)}
	if clause == "" {
		for _, row := range rules.Table() {
			s.signals = append(s.signals, row.Name)
		}
	}
	for part := range strings.SplitSeq(says, ", ") {
		s.statement(part)
	}
	return s.lies
}

func (s *sentence) lie(format string, args ...any) {
	s.lies = append(s.lies, fmt.Sprintf(format, args...))
}

// statement reads "TITLE 4.2 s (≥ 2 s)", "TITLE up: 85 ms → 2.4 s (28×)" and their like.
func (s *sentence) statement(text string) {
	switch {
	case !strings.ContainsAny(text, "0123456789"):
		if name, _ := s.title(text); name != "" {
			s.about = name
		}
		return
	case strings.HasPrefix(text, "for "), strings.HasPrefix(text, "not for "), strings.HasPrefix(text, "perhaps for "):
		s.span(text[strings.Index(text, "for ")+4:])
		return
	case strings.HasPrefix(text, "now ") && s.about != "":
		s.is(s.about, strings.TrimPrefix(text, "now"))
		return
	case strings.HasPrefix(text, "correlation of "):
		s.correlation(text)
		return
	}
	if stages, rest, found := strings.Cut(text, " share of the added "); found && len(rest) >= 3 {
		of, rest := cutWord(rest)
		call := `added("` + strings.ToLower(of) + `", "` + strings.ReplaceAll(stages, " and ", `", "`) + `")`
		if share, ok, known := s.c.addedShare(s.k, call); known {
			s.value(text, rest, "ratio", share, ok)
		}
		return
	}
	name, rest := s.title(text)
	if name == "" {
		s.c.shown++
		s.lie("%q has a number that is of nothing known", text)
		return
	}
	s.about = name
	s.is(name, rest)
}

// is reads what stands after a signal's title.
func (s *sentence) is(name, rest string) {
	if rest == " not seen" || strings.Contains(rest, " moved before ") {
		return
	}
	unit := titles.named[name].Unit
	truth, ok := view(s.c.past.moments[:s.k+1]).value(name)
	for _, how := range []string{" not", " perhaps"} {
		rest = strings.TrimPrefix(rest, how)
	}
	for _, how := range []string{" up: ", " down: ", " flat: "} {
		if change, found := strings.CutPrefix(rest, how); found {
			s.change(name, change, unit, truth, ok)
			return
		}
	}
	if span, found := strings.CutPrefix(rest, " rising over "); found {
		s.span(span)
		return
	}
	s.value(titles.words[name], rest, unit, truth, ok)
}

// value reads " 4.2 s (≥ 2 s)".
func (s *sentence) value(of, rest, unit string, truth float64, ok bool) {
	q, rest, read := quantity(strings.TrimPrefix(rest, " "), unit)
	if !read {
		s.c.shown++
		s.lie("%s: %q is no number", of, rest)
		return
	}
	s.hold(of, q, truth, ok, unit)
	if limit, found := strings.CutPrefix(rest, " ("); found {
		s.limit(of, strings.TrimSuffix(limit, ")"), unit)
	} else if rest != "" {
		s.lie("%s: cannot read %q", of, rest)
	}
}

func (s *sentence) hold(of string, q shown, truth float64, ok bool, unit string) {
	if s.c.shown++; !ok || !q.holds(truth) {
		s.lies = append(s.lies, mismatch("said "+of, q.text, truth, ok, unit))
	}
}

// limit reads "≥ 2 s" and "≥ 300 ms = 3 × step p50".
func (s *sentence) limit(of, text, unit string) {
	if s.clause == "" {
		return
	}
	_, text = cutWord(text) // the sign
	q, rest, read := quantity(strings.TrimPrefix(text, " "), unit)
	if !read {
		s.lie("%s: %q is no limit", of, text)
		return
	}
	s.c.shown++
	numbers := literals(s.clause)
	expression, is := strings.CutPrefix(rest, " = ")
	if !is {
		if !slices.ContainsFunc(numbers, q.holds) {
			s.lie("%s: the limit %s is not in %q", of, q.text, s.clause)
		}
		return
	}
	factor := 1.0
	if head, tail, times := strings.Cut(expression, " × "); times {
		expression = tail
		var err error
		if factor, err = strconv.ParseFloat(head, 64); err != nil || !slices.Contains(numbers, factor) {
			s.lie("%s: %s × is not in %q", of, head, s.clause)
		}
	}
	name, _ := s.title(expression)
	truth, ok := view(s.c.past.moments[:s.k+1]).value(name)
	if !ok || !q.holds(factor*truth) {
		s.lies = append(s.lies, mismatch("said "+of+" limit", q.text, factor*truth, ok, unit))
	}
}

// change reads "85 ms → 2.4 s (28×)".
func (s *sentence) change(name, text, unit string, truth float64, ok bool) {
	of := titles.words[name]
	base, told, known := s.c.baseline(s.k, name)
	from, rest, read := quantity(text, unit)
	after, arrow := strings.CutPrefix(rest, " → ")
	to, rest, read2 := quantity(after, unit)
	if !read || !arrow || !read2 {
		s.c.shown++
		s.lie("%s: cannot read %q", of, text)
		return
	}
	if known {
		s.hold(of+" before", from, base, told, unit)
	}
	s.hold(of, to, truth, ok, unit)
	if times, found := strings.CutPrefix(rest, " ("); found && known {
		q, _, read := quantity(times, "count")
		if s.c.shown++; !read || base == 0 || !q.holds(truth/base) {
			s.lie("said %s %s times, the samples say %.3g", of, strings.TrimSuffix(times, "×)"), truth/base)
		}
	}
}

// span reads how long something is asked to last; it stands in the clause.
func (s *sentence) span(text string) {
	if s.clause == "" {
		return
	}
	s.c.shown++
	if q, _, read := quantity(text, "s"); !read || !slices.ContainsFunc(literals(s.clause), q.holds) {
		s.lie("%s is not in %q", text, s.clause)
	}
}

// title is the signal with the longest title that a text begins with, and what comes after.
func (s *sentence) title(text string) (name, rest string) {
	for _, signal := range s.signals {
		if after, found := strings.CutPrefix(text, titles.words[signal]); found && len(titles.words[signal]) > len(titles.words[name]) {
			name, rest = signal, after
		}
	}
	return name, rest
}

// correlationSpan is over which it is, seconds.
const correlationSpan = 30

// correlation reads "correlation of A and B 0.8 (> 0.6)".
func (s *sentence) correlation(text string) {
	first, rest := s.title(strings.TrimPrefix(text, "correlation of "))
	second, rest := s.title(strings.TrimPrefix(rest, " and "))
	v := view(s.c.past.moments[:s.k+1])
	var xs, ys []float64
	for i := range v {
		if v.now().At.Sub(v[i].At).Seconds() > correlationSpan {
			continue
		}
		x, ok := v[:i+1].value(first)
		y, ok2 := v[:i+1].value(second)
		if ok && ok2 {
			xs, ys = append(xs, x), append(ys, y)
		}
	}
	truth, ok := pearson(xs, ys)
	s.value(text, rest, "ratio", truth, ok)
}

func pearson(xs, ys []float64) (float64, bool) {
	mx, my := mean(xs), mean(ys)
	var sxx, syy, sxy float64
	for i := range xs {
		sxx, syy, sxy = sxx+(xs[i]-mx)*(xs[i]-mx), syy+(ys[i]-my)*(ys[i]-my), sxy+(xs[i]-mx)*(ys[i]-my)
	}
	return sxy / math.Sqrt(sxx*syy), sxx > 0 && syy > 0
}

func mean(xs []float64) (m float64) {
	for _, x := range xs {
		m += x / float64(len(xs))
	}
	return m
}

func median(xs []float64) (float64, bool) {
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	return nearestRank(sorted, 0.5)
}

func cutWord(text string) (word, rest string) {
	i := strings.IndexByte(text, ' ')
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i:]
}
