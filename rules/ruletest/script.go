package ruletest

import (
	"bufio"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Bounds of a script, so that a hostile one costs little.
const (
	maxSteps  = 4000
	maxScript = 1 << 20
)

// script is a case as parsed.
type script struct {
	every    time.Duration
	requests bool // per-request records are shown
	metrics  bool // a metrics page is shown
	jitter   float64
	before   int
	past     map[string]float64 // series values of the requests before
	series   map[string][]value
	checks   []check
}

// value is one step of a series; missing when it is not known.
type value struct {
	v       float64
	missing bool
}

// check is an "at" line.
type check struct {
	line int
	at   time.Duration
	verb string
	args []string
}

func parse(r io.Reader, name string) (*script, error) {
	s := &script{every: time.Second, requests: true, metrics: true, jitter: 0.2, past: map[string]float64{}, series: map[string][]value{}}
	lines := bufio.NewScanner(io.LimitReader(r, maxScript))
	n := 0
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if err := s.line(n, fields); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(s.checks) == 0 {
		return nil, fmt.Errorf("%s: no at line: nothing is checked", name)
	}
	sort.SliceStable(s.checks, func(i, j int) bool { return s.checks[i].at < s.checks[j].at })
	if last := s.checks[len(s.checks)-1].at; last/s.every > maxSteps {
		return nil, fmt.Errorf("%s: %s is more than %d steps", name, last, maxSteps)
	}
	return s, nil
}

func (s *script) line(n int, f []string) (err error) {
	switch f[0] {
	case "every":
		if len(f) != 2 {
			return fmt.Errorf("every wants one duration")
		}
		if s.every, err = time.ParseDuration(f[1]); err != nil || s.every < 100*time.Millisecond {
			return fmt.Errorf("every %s: not a duration of at least 100ms", f[1])
		}
		return nil
	case "show":
		s.requests, s.metrics = false, false
		for _, what := range f[1:] {
			switch what {
			case "requests":
				s.requests = true
			case "metrics":
				s.metrics = true
			default:
				return fmt.Errorf("show %s: requests or metrics", what)
			}
		}
		return nil
	case "jitter":
		if len(f) != 2 {
			return fmt.Errorf("jitter wants one number")
		}
		s.jitter, err = strconv.ParseFloat(f[1], 64)
		return err
	case "before":
		return s.beforeLine(f[1:])
	case "at":
		return s.atLine(n, f[1:])
	}
	if !isSeries(f[0]) {
		return fmt.Errorf("unknown series or word %q", f[0])
	}
	values, err := parseValues(f[1:])
	if err != nil {
		return fmt.Errorf("%s: %w", f[0], err)
	}
	s.series[f[0]] = values
	return nil
}

func (s *script) beforeLine(f []string) (err error) {
	if len(f) == 0 {
		return fmt.Errorf("before wants a number of requests")
	}
	if s.before, err = strconv.Atoi(f[0]); err != nil || s.before < 0 || s.before > 1e6 {
		return fmt.Errorf("before %s: not a number of requests", f[0])
	}
	for _, kv := range f[1:] {
		name, text, _ := strings.Cut(kv, "=")
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !isSeries(name) {
			return fmt.Errorf("before %s: wanted series=number", kv)
		}
		s.past[name] = v
	}
	return nil
}

func (s *script) atLine(n int, f []string) error {
	if len(f) < 2 {
		return fmt.Errorf("at wants a time and a verb")
	}
	at, err := time.ParseDuration(f[0])
	if err != nil || at < 0 {
		return fmt.Errorf("at %s: not a time", f[0])
	}
	want, ok := verbs[f[1]]
	if !ok {
		return fmt.Errorf("unknown verb %q", f[1])
	}
	if len(f)-2 != want {
		return fmt.Errorf("%s wants %d words after it", f[1], want)
	}
	s.checks = append(s.checks, check{n, at, f[1], f[2:]})
	return nil
}

// parseValues reads the value notation.
func parseValues(words []string) ([]value, error) {
	var out []value
	for _, w := range words {
		head, count, repeated := strings.Cut(w, "x")
		n := 0
		if repeated {
			var err error
			if n, err = strconv.Atoi(count); err != nil || n < 0 || n > maxSteps {
				return nil, fmt.Errorf("%q: not a number of steps", w)
			}
		}
		if head == "_" {
			for range max(n, 1) {
				out = append(out, value{missing: true})
			}
			continue
		}
		v, step, err := startAndStep(head)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", w, err)
		}
		for i := range n + 1 {
			out = append(out, value{v: v + float64(i)*step})
		}
		if len(out) > maxSteps {
			return nil, fmt.Errorf("more than %d values", maxSteps)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no values")
	}
	return out, nil
}

func startAndStep(s string) (v, step float64, err error) {
	i := strings.LastIndexAny(s, "+-")
	if i > 0 && s[i-1] == 'e' { // the sign of an exponent
		i = strings.LastIndexAny(s[:i], "+-")
	}
	if i > 0 && s[i-1] != 'e' {
		if step, err = strconv.ParseFloat(s[i:], 64); err != nil {
			return 0, 0, err
		}
		s = s[:i]
	}
	v, err = strconv.ParseFloat(s, 64)
	return v, step, err
}
