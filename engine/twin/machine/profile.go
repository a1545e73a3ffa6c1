package machine

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"llmtop/probes"
)

// samplePeriod is the CPU time between two samples of a thread: 100 a second, as Go's
// profiler and those for Python take them.
const samplePeriod = 10 * time.Millisecond

// Profile is a CPU profile of all processes of a replica over the seconds before, as a
// sampler would have taken it. It is an error while the replica is down.
func (h *Host) Profile(replica int, at time.Time, seconds float64) (*probes.Profile, error) {
	if replica < 0 || replica >= len(h.replicas) || !h.replicas[replica].up {
		return nil, fmt.Errorf("taking a CPU profile of replica %d: it does not run", replica)
	}
	r := &h.replicas[replica]
	done := r.past.since(h.at - time.Duration(seconds*float64(time.Second)))
	b := newProfile(at, seconds)
	for _, s := range stacksOf(h.personality.language) {
		mean := done[s.part] * s.weight / samplePeriod.Seconds()
		b.add(&s, int64(h.noise.poisson(mean)))
	}
	var raw bytes.Buffer
	if err := b.Write(&raw); err != nil {
		return nil, fmt.Errorf("writing a CPU profile: %w", err)
	}
	return &probes.Profile{At: probes.Stamp(at), Endpoint: r.endpoint, Seconds: seconds, Raw: raw.Bytes()}, nil
}

// poisson is how many of so many rare things happen.
func (d *draws) poisson(mean float64) float64 {
	if mean > 50 {
		return max(0, math.Round(mean+math.Sqrt(mean)*d.NormFloat64()))
	}
	n, p := -1.0, 1.0
	for limit := math.Exp(-mean); p >= limit; n++ {
		p *= d.Float64()
	}
	return max(0, n)
}

// builder makes a profile in pprof's own form.
type builder struct {
	*profile.Profile
	locations map[string]*profile.Location
}

func newProfile(at time.Time, seconds float64) *builder {
	length := time.Duration(seconds * float64(time.Second))
	return &builder{&profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: samplePeriod.Nanoseconds(),
		TimeNanos: at.Add(-length).UnixNano(), DurationNanos: length.Nanoseconds(),
		Mapping: []*profile.Mapping{{ID: 1, HasFunctions: true, File: "engine"}},
	}, map[string]*profile.Location{}}
}

// add adds so many samples of a stack.
func (b *builder) add(s *stack, samples int64) {
	if samples <= 0 {
		return
	}
	sample := &profile.Sample{Value: []int64{samples, samples * samplePeriod.Nanoseconds()}}
	for name := range strings.SplitSeq(s.frames, "<") {
		sample.Location = append(sample.Location, b.location(name))
	}
	if s.label != "" {
		sample.Label = map[string][]string{"stage": {s.label}}
	}
	b.Sample = append(b.Sample, sample)
}

func (b *builder) location(name string) *profile.Location {
	if l := b.locations[name]; l != nil {
		return l
	}
	id := uint64(len(b.Location) + 1)
	f := &profile.Function{ID: id, Name: name, SystemName: name}
	l := &profile.Location{ID: id, Mapping: b.Mapping[0], Address: 0x1000 * id, Line: []profile.Line{{Function: f}}}
	b.Function, b.Location = append(b.Function, f), append(b.Location, l)
	b.locations[name] = l
	return l
}
