// Package frames gives a CPU profile its meaning: in flows a *probes.Profile as
// the engine gave it, out flow shares of the samples by what they were for
// (tokenize, model, gc, json …). It is a pure function over a table of frame
// names; adding an engine is adding lines to the table.
package frames

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile"

	"llmtop/probes"
)

// Bounds of a profile.
const (
	maxInflated = 8 << 20 // a minute of Go's profiler on 100 busy cores has about 2 MiB
	maxDepth    = 512     // frames looked at of one stack
	maxTop      = 10
	maxName     = 200 // bytes of a function name that is shown
)

// Facts tells what the samples of a profile were for. Each sample counts once: for
// the stage that its label names, unless its frames show a mechanism that every
// stage may have (garbage collection, locks, JSON …); without a label, for its
// leaf-most frame that the table knows. Shares sum to 1. A profile without samples
// (an idle engine) has no shares.
func Facts(p *probes.Profile) (facts *probes.ProfileFacts, err error) {
	defer func() {
		if r := recover(); r != nil { // a profile is outside data in the hands of a foreign parser
			facts, err = nil, fmt.Errorf("reading CPU profile: malformed: %v", r)
		}
	}()
	if p == nil {
		return nil, errors.New("reading CPU profile: there is none")
	}
	raw, err := inflate(p.Raw, maxInflated)
	if err != nil {
		return nil, fmt.Errorf("reading CPU profile: %w", err)
	}
	parsed, err := profile.ParseUncompressed(raw)
	if err != nil {
		return nil, fmt.Errorf("reading CPU profile: %w", err)
	}
	facts = &probes.ProfileFacts{At: p.At, Seconds: p.Seconds, Share: map[string]float64{}}
	count(parsed, facts)
	return facts, nil
}

// inflate unzips a profile up to a limit.
func inflate(raw []byte, limit int64) ([]byte, error) {
	if !bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		if int64(len(raw)) > limit {
			return nil, fmt.Errorf("it is larger than %d bytes", limit)
		}
		return raw, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err == nil && int64(len(out)) > limit {
		err = fmt.Errorf("it is larger than %d bytes unzipped", limit)
	}
	return out, err
}

// count goes through the samples and fills in shares and top functions.
func count(p *profile.Profile, facts *probes.ProfileFacts) {
	index := valueIndex(p)
	if index < 0 {
		return
	}
	known := purposes{}
	leaves := map[string]*leaf{}
	total := 0.0
	var stack []string
	for _, s := range p.Sample {
		if index >= len(s.Value) || s.Value[index] <= 0 {
			continue
		}
		weight := float64(s.Value[index])
		stack = functions(stack[:0], s)
		what := purpose(known.of(stack), labelled(s))
		facts.Share[what] += weight
		facts.Samples += samples(p, s)
		total += weight
		if len(stack) > 0 {
			add(leaves, stack[0], what, weight)
		}
	}
	if total == 0 {
		return
	}
	for what := range facts.Share {
		facts.Share[what] /= total
	}
	facts.Top = top(leaves, total)
}

// valueIndex picks the value that weighs a sample: CPU time, else the profile's
// default, else the last one. -1 when samples have no values.
func valueIndex(p *profile.Profile) int {
	index := len(p.SampleType) - 1
	for i, t := range p.SampleType {
		switch {
		case t == nil:
		case t.Type == "cpu":
			return i
		case t.Type == p.DefaultSampleType:
			index = i
		}
	}
	return index
}

// samples is how many samples one entry of the profile stands for.
func samples(p *profile.Profile, s *profile.Sample) int {
	for i, t := range p.SampleType {
		if t != nil && t.Type == "samples" && i < len(s.Value) {
			return int(min(max(s.Value[i], 0), 1<<31-1))
		}
	}
	return 1
}

// functions appends the names of a stack, leaf first, inlined calls included.
func functions(out []string, s *profile.Sample) []string {
	for _, location := range s.Location {
		if location == nil {
			continue
		}
		for _, line := range location.Line {
			if line.Function != nil && len(out) < maxDepth {
				out = append(out, line.Function.Name)
			}
		}
		if len(location.Line) == 0 && location.Mapping != nil && len(out) < maxDepth {
			out = append(out, location.Mapping.File) // a stripped library is known by its name
		}
	}
	return out
}
