package main

import (
	"fmt"
	"testing"
)

// BenchmarkJumpBack goes back in a recording of an hour that was read to its
// end: from the nearest checkpoint, and, for the ratio, by a fold from the start.
func BenchmarkJumpBack(b *testing.B) {
	line := recordingOf(b, samplesOf(b, "show metrics\nrequests.rate 6\nstage.queue 0.002\nqueue.waiting 0\nat 3900s nothing\n"))
	last := line.last()
	if _, err := line.upTo(last); err != nil {
		b.Fatal(err)
	}
	for _, minutes := range []int{12, 20, 35} {
		for _, with := range []bool{true, false} {
			b.Run(fmt.Sprintf("%dm/checkpoints=%t", minutes, with), func(b *testing.B) {
				kept := line.aside.all
				folds := line.folds
				for b.Loop() {
					line.done.dropped, line.done.ticks = last, nil // as if at the end
					if !with {
						line.aside.all = nil
					}
					if _, err := line.upTo(last - 60*minutes); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(line.folds-folds)/float64(b.N), "folded/op")
				line.aside.all = kept
			})
		}
	}
}
