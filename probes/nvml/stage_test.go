//go:build linux && cgo

package nvml

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"llmtop/probes"
)

// stage is a host with the fake library, whose time the test moves.
type stage struct {
	t     *testing.T
	lib   *nvmlLibrary
	probe *Probe
	clock string // file with the library's time

	mu      sync.Mutex
	elapsed time.Duration
}

var stageBegan = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

func (s *stage) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return stageBegan.Add(s.elapsed)
}

// moveTo sets the time of the probe and of the library's script.
func (s *stage) moveTo(seconds float64) {
	s.t.Helper()
	s.mu.Lock()
	s.elapsed = time.Duration(seconds * float64(time.Second)).Round(time.Microsecond) // as samples carry times
	s.mu.Unlock()
	if err := os.WriteFile(s.clock+".new", fmt.Appendf(nil, "%f", seconds), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(s.clock+".new", s.clock); err != nil { // the library may be reading it
		s.t.Fatal(err)
	}
}

// readUntil reads until the section is as wanted; how many reads a busy machine
// needs for that is not the test's business.
func (s *stage) readUntil(as func(*probes.GPU) bool) *probes.GPU {
	s.t.Helper()
	for {
		if g := read(s.t, s.probe); as(g) {
			return g
		}
		if s.t.Context().Err() != nil {
			s.t.Fatal("never saw what was waited for")
		}
	}
}

// fresh reads until the given devices were read at the present time.
func (s *stage) fresh(devices ...int) *probes.GPU {
	s.t.Helper()
	return s.readUntil(func(g *probes.GPU) bool {
		for _, i := range devices {
			if i >= len(g.Devices) || !g.Devices[i].At.Equal(s.now()) {
				return false
			}
		}
		return true
	})
}

// reading is one value with what it should be.
type reading struct {
	name string
	got  probes.Opt[float64]
	want float64
}

func check(t *testing.T, readings ...reading) {
	t.Helper()
	for _, r := range readings {
		got, ok := r.got.Get()
		if diff := got - r.want; !ok || diff > 1e-6 || diff < -1e-6 {
			t.Errorf("%s = %v (seen %v, %v), want %v", r.name, got, ok, r.got.Why(), r.want)
		}
	}
}

func checkMissing(t *testing.T, name string, got probes.Opt[float64], why probes.Absence) {
	t.Helper()
	if got.Seen() || got.Why() != why {
		t.Errorf("%s = %v (seen %v, %v), want missing: %v", name, got.Or(0), got.Seen(), got.Why(), why)
	}
}
