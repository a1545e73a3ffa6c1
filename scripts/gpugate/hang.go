package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"llmtop/probes"
)

// hung is which of the eight GPUs hangs.
const hung = 3

// hang has one of eight GPUs hang for a while. The same host without a hang is recorded
// beside it: on a busy machine the reads of both are late now and then.
func (b *bench) hang(length time.Duration) (missed int, err error) {
	const before, after = 3 * time.Second, 5 * time.Second
	sick := fault{name: "hang", script: "eight",
		more: fmt.Sprintf("1 %d hang.UtilizationRates 1\n%g %d hang.UtilizationRates 0", hung, 1+recorded.faster*length.Seconds(), hung)}
	well := fault{name: "hang beside", script: "eight"}
	var all sync.WaitGroup
	var samples [2][]*probes.Sample
	var errs [2]error
	for i, f := range []fault{sick, well} {
		script, _, err := f.scripts(filepath.Join(b.dir, f.name))
		if err != nil {
			return 0, err
		}
		all.Go(func() { samples[i], errs[i] = b.record(f, script, before+length+after) })
	}
	all.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return 0, err
	}
	seen, lacking := judgeHang(samples[0], samples[1], length)
	return verdict(sick.name, seen, lacking), nil
}

// freshness counts, of each device, the samples that have a new reading of it, and the samples
// between two good ones that have none of any device: then llmtop as a whole was late.
func freshness(samples []*probes.Sample) (fresh [8]int, late int) {
	var last [8]time.Time
	misses := 0 // in a row
	for _, s := range samples {
		if s.GPU == nil {
			continue
		}
		before := fresh
		for i := range s.GPU.Devices {
			d := &s.GPU.Devices[i]
			if d.Index < 0 || d.Index >= len(fresh) {
				continue
			}
			if d.At.After(last[d.Index]) && d.PowerWatts.Seen() {
				fresh[d.Index]++
			}
			last[d.Index] = d.At
		}
		switch {
		case fresh == before:
			misses++
		case misses == 1:
			late, misses = late+1, 0
		default:
			misses = 0
		}
	}
	return fresh, late
}

// judgeHang holds the samples against what has to be: each has a fresh reading of each other
// device (or misses one as rarely as the host beside it does, or once for all at the same time), the hung one is stale for about
// as long as it hung, and it is back.
func judgeHang(samples, beside []*probes.Sample, length time.Duration) (seen, lacking []string) {
	fresh, asWhole := freshness(samples)
	usual, _ := freshness(beside)
	late := len(beside) - slices.Min(usual[:])
	const more = 2 // late reads than the host beside it has: chance, where that has some
	allowed := 0
	if late > 0 {
		allowed = late + more
	}
	allowed = max(allowed, min(asWhole, more)) // one that hangs would hold up the others for longer, or some of them
	least := len(samples)
	for i, n := range fresh {
		if i == hung {
			continue
		}
		if least = min(least, n); len(samples)-n > allowed {
			lacking = append(lacking, fmt.Sprintf("GPU %d has a fresh reading in %d of %d samples; without a hang %d are missed", i, n, len(samples), late))
		}
	}
	stale := 0
	for _, s := range samples {
		if s.GPU == nil {
			continue
		}
		if d := device(s.GPU, hung, ""); d.Err != "" && d.PowerWatts.Why() == probes.Stale && !d.PowerWatts.Seen() {
			stale++
		}
	}
	const patience = 5 // seconds until a device that does not answer is called stale
	if stale < int(length.Seconds())-patience-allowed || stale > int(length.Seconds())+1 {
		lacking = append(lacking, fmt.Sprintf("GPU %d is stale in %d samples of a hang of %s", hung, stale, length))
	}
	if n := len(samples); n == 0 || samples[n-1].GPU == nil || device(samples[n-1].GPU, hung, "").Err != "" {
		lacking = append(lacking, fmt.Sprintf("GPU %d is not back", hung))
	}
	return []string{fmt.Sprintf("7 GPUs have a fresh reading in %d of %d samples at least (%d of %d without a hang), GPU %d is stale in %d, and back",
		least, len(samples), slices.Min(usual[:]), len(beside), hung, stale)}, lacking
}
