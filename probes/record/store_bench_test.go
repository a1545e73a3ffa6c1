package record

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// weekOf writes a week at 1 Hz of short samples to a file, or to a store of hours.
func weekOf(b *testing.B, store bool) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "week.llmrec")
	samples := newSmall().many(groupSize * 4)
	c := clockAt(samples[0].At)
	var w *Writer
	var err error
	if store {
		w, err = openStoreWriter(path, Manifest{Interval: time.Second}, StoreOptions{FileLength: time.Hour}, c.now, options{queue: queueSize})
	} else {
		w, err = Create(path, Manifest{Interval: time.Second})
	}
	if err != nil {
		b.Fatal(err)
	}
	for i := range 7 * 86400 {
		s := *samples[i%len(samples)]
		s.Seq, s.At, s.Mono = uint64(i+1), samples[0].At.Add(time.Duration(i)*time.Second), time.Duration(i)*time.Second
		w.Write(&s)
		if i%queueSize == queueSize-1 {
			w.Flush()
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkWeek opens a week, in one file and in a store of 168, reads all over it and
// says what the reader takes.
//
//	go test -run xxx -bench Week -benchtime 1x ./probes/record
func BenchmarkWeek(b *testing.B) {
	for _, kind := range []string{"file", "store"} {
		b.Run(kind, func(b *testing.B) {
			path := weekOf(b, kind == "store")
			runtime.GC()
			before := resident(b)
			var heap, grown uint64
			for b.Loop() {
				begun := time.Now()
				r, err := Open(path)
				if err != nil || r.Len() != 7*86400 {
					b.Fatal(err)
				}
				b.ReportMetric(float64(time.Since(begun).Microseconds())/1000, "ms/open")
				begun = time.Now()
				const seeks = 2000
				for i := range seeks {
					if _, err := r.At(i * 7919 % r.Len()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(time.Since(begun).Microseconds())/seeks, "µs/seek")
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				heap, grown = m.HeapAlloc, max(resident(b), before)-before
				r.Close()
			}
			b.ReportMetric(float64(heap)/1e6, "MB-heap")
			b.ReportMetric(float64(grown)/1e6, "MB-RSS-more")
		})
	}
}

// resident is this process's memory, bytes.
func resident(b *testing.B) uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("no /proc")
	}
	var kB uint64
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	fmt.Sscan(after, &kB)
	return kB * 1024
}
