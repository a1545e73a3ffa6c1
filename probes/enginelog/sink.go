package enginelog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"llmtop/probes"
)

const (
	maxSource = 300 // bytes of the name of a log in a section
	// maxKnown is how many lines that may be known are looked at closely between two looks
	// at a source: 20,000 a second, some tenth of a core. No engine in order prints so many.
	maxKnown = 5000
)

// sink gathers what the readers of a source see. All its methods are safe for concurrent use.
type sink struct {
	matcher *matcher
	opened  chan struct{} // closed when the source is first read, or cannot be

	mu      sync.Mutex
	told    bool // opened is closed
	source  string
	at      time.Time // when the source was last seen to be read; zero: it is not
	err     error
	lines   float64
	skipped float64
	counts  map[string]*probes.LogCount
	votes   map[string]int // lines by dialect
	afford  int            // lines that may be looked at closely until renew
	renew   time.Time
}

func newSink(m *matcher, source string) *sink {
	s := &sink{matcher: m, opened: make(chan struct{})}
	s.begin(source)
	return s
}

// begin is for a source that is another than the one before.
func (s *sink) begin(source string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if source = probes.Printable(source, maxSource); source == s.source && s.counts != nil {
		return
	}
	s.source, s.at, s.lines, s.skipped = source, time.Time{}, 0, 0
	s.counts, s.votes = map[string]*probes.LogCount{}, map[string]int{}
}

// line takes a line. One that was there before only sets the numbers of its kind.
func (s *sink) line(line []byte, before bool) {
	literal, at := s.matcher.filter.next(line, 0)
	if literal < 0 || !s.affords(len(line)) {
		return
	}
	row, numbers := s.matcher.known(line, literal, at)
	if row == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts[row.kind]
	if c == nil {
		c = &probes.LogCount{Kind: row.kind}
		s.counts[row.kind] = c
	}
	c.Numbers = numbers
	s.votes[row.dialect]++
	if !before {
		c.Total++
		c.LastAt = probes.Stamp(time.Now())
	}
}

// affords reports whether a line may be looked at closely; else it is left out.
func (s *sink) affords(bytes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); !now.Before(s.renew) {
		s.afford, s.renew = maxKnown, now.Add(pollEvery)
	}
	if s.afford == 0 {
		s.skipped += float64(bytes) + 1
		return false
	}
	s.afford--
	return true
}

// read notes that the source was read at this moment, how many lines it held and how many
// bytes were left out. trouble is what is wrong all the same; nil when nothing is.
func (s *sink) read(lines, skipped int, trouble error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines, s.skipped = s.lines+float64(lines), s.skipped+float64(skipped)
	s.at, s.err = probes.Stamp(time.Now()), trouble
	s.tell()
}

// fail notes that the source cannot be read, and why.
func (s *sink) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.err = time.Time{}, err
	s.tell()
}

func (s *sink) tell() {
	if !s.told {
		s.told = true
		close(s.opened)
	}
}

// section is what is known now; nil while the source is not read.
func (s *sink) section() (*probes.EngineLog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() {
		return nil, s.err
	}
	l := &probes.EngineLog{At: s.at, Source: s.source, Dialect: s.dialect(), Lines: probes.Some(s.lines), Skipped: probes.Some(s.skipped)}
	for _, c := range s.counts {
		l.Counts = append(l.Counts, *c) // the numbers of a count are never changed
	}
	slices.SortFunc(l.Counts, func(a, b probes.LogCount) int { return strings.Compare(a.Kind, b.Kind) })
	return l, s.err
}

// dialect is whose lines most of the known ones are; of several the first by name.
func (s *sink) dialect() string {
	best := ""
	for d, n := range s.votes {
		if d != "" && (best == "" || n > s.votes[best] || n == s.votes[best] && d < best) {
			best = d
		}
	}
	return best
}

// guarded runs a reader. A panic of it is an error of the source and ends no program.
func (s *sink) guarded(run func()) {
	defer func() {
		if p := recover(); p != nil {
			s.fail(fmt.Errorf("reading the log: panic: %v", panicText(p)))
		}
	}()
	run()
}

// panicText is a panic without what may have come from a line.
func panicText(p any) error {
	if err, ok := p.(error); ok && strings.HasPrefix(err.Error(), "runtime error: ") {
		return err
	}
	return errors.New("of an unknown kind")
}
