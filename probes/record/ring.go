package record

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"llmtop/probes"
)

// segmentSpan is how much time a segment of a ring holds at most: what a ring is
// longer than its span by.
const segmentSpan = time.Minute

// shares is into how many segments a ring's bytes are divided at least.
const shares = 8

// ErrDumping is why Dump refuses: one is under way.
var ErrDumping = errors.New("recording: what the ring holds is being written already")

// Ring keeps the last samples in memory, encoded as in a file, for the moment in
// which somebody wants them: what was before an incident. It holds a span of time
// or a number of bytes, whichever is reached first; while a Dump writes, what is
// not written yet stays in memory beside it, so at most twice the bytes. It is safe
// for concurrent use.
type Ring struct {
	span  time.Duration
	limit int64

	mu       sync.Mutex
	manifest Manifest
	segments []*segment // oldest first; the last one grows
	last     *probes.Sample
	dump     *Dump // takes what is written, too; nil: none
	closed   bool
}

// NewRing returns an empty ring. The manifest is that of the files it is written to.
func NewRing(span time.Duration, bytes int64, m Manifest) *Ring {
	m.Facts = maps.Clone(m.Facts)
	return &Ring{span: span, limit: bytes, manifest: m}
}

// Write takes in a sample, which must not be changed afterwards, and what was found
// in it. It waits for no disk. An error is about this sample: too large, or of a time
// that no recording can hold; a gap stands for it.
func (r *Ring) Write(s *probes.Sample, findings ...*Finding) error {
	if !fitsNano(s.At) {
		return errTime
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	g, err := r.current(s)
	if err != nil {
		return err
	}
	err = g.appender.write(item{sample: s, findings: findings})
	if err == nil {
		g.newest = s.Mono
		r.last = s
	}
	r.drop(s.Mono)
	if r.dump != nil {
		r.dump.offer(item{sample: s, findings: findings})
	}
	return err
}

// Mark notes a moment, after the samples written before.
func (r *Ring) Mark(at time.Time, text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	it := item{mark: &Mark{At: at.UTC(), Text: clean(text)}}
	if r.dump != nil {
		r.dump.offer(it)
	}
	if n := len(r.segments); n > 0 && r.segments[n-1].appender != nil {
		return r.segments[n-1].appender.write(it)
	}
	return nil // before the first sample there is nothing to mark
}

// Facts adds to what the manifest says; later facts win.
func (r *Ring) Facts(facts map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.manifest.Facts = merged(r.manifest.Facts, facts)
	if r.dump != nil {
		r.dump.offer(item{facts: maps.Clone(facts)})
	}
}

// Held says how much time and how many bytes the ring holds now.
func (r *Ring) Held() (span time.Duration, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.segments) > 0 {
		span = r.segments[len(r.segments)-1].newest - r.segments[0].oldest
	}
	return span, r.bytes()
}

// Close ends the ring, and a Dump that is under way (see Dump.Close).
func (r *Ring) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return ErrClosed
	}
	r.closed = true
	d := r.dump
	r.segments, r.last = nil, nil
	r.mu.Unlock()
	if d == nil {
		return nil
	}
	return d.Close()
}

// current is the segment that s belongs to: the last, or a new one when that is
// full, or s is of another collection.
func (r *Ring) current(s *probes.Sample) (*segment, error) {
	if n := len(r.segments); n > 0 {
		g := r.segments[n-1]
		age := s.Mono - g.oldest
		if g.appender != nil && age >= 0 && age < min(segmentSpan, max(r.span/4, s.Interval)) && g.size() < r.limit/shares {
			return g, nil
		}
		g.seal()
	}
	g, err := newSegment(s, r.last)
	if err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	r.segments = append(r.segments, g)
	return g, nil
}

// drop forgets whole segments, the oldest first: those whose newest sample is beyond
// the span, and as many as it takes to hold the bytes. The last one stays.
func (r *Ring) drop(now time.Duration) {
	bytes := r.bytes()
	n := 0
	for n < len(r.segments)-1 {
		g := r.segments[n]
		if now-g.newest <= r.span && bytes <= r.limit {
			break
		}
		bytes -= g.size()
		n++
	}
	clear(r.segments[:n])
	r.segments = r.segments[n:]
}

func (r *Ring) bytes() (sum int64) {
	for _, g := range r.segments {
		sum += g.size()
	}
	return sum
}

// merged are the facts of both; those of more win.
func merged(facts, more map[string]string) map[string]string {
	if len(more) == 0 {
		return facts
	}
	out := make(map[string]string, len(facts)+len(more))
	maps.Copy(out, facts)
	maps.Copy(out, more)
	return out
}
