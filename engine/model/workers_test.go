package model

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestWorkersRun sees every item once, whatever the grain and the threads, and the
// number of each worker never in use twice at a time.
func TestWorkersRun(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		w := newWorkers(threads)
		for _, n := range []int{0, 1, 2, 7, 64, 1000} {
			for _, grain := range []int{1, 3, 64, 5000} {
				seen := make([]int32, n)
				busy := make([]int32, threads)
				w.run(n, grain, func(worker, lo, hi int) {
					if atomic.AddInt32(&busy[worker], 1) != 1 {
						t.Errorf("worker %d is used twice at a time", worker)
					}
					for i := lo; i < hi; i++ {
						atomic.AddInt32(&seen[i], 1)
					}
					atomic.AddInt32(&busy[worker], -1)
				})
				for i, s := range seen {
					if s != 1 {
						t.Fatalf("%d threads, %d items by %d: item %d is seen %d times", threads, n, grain, i, s)
					}
				}
			}
		}
		w.close()
	}
}

// TestClose runs models in a bubble, which fails when a goroutine of it stays after
// Close.
func TestClose(t *testing.T) {
	f, err := Parse(tinyFile(tensorQ8_0, 1))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		for _, threads := range []int{1, 2, 6} {
			m, err := Load(f, Options{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Forward(NewKVPool(m.Config(), 4, 16, KVFloat32), []Chunk{{Tokens: sequence(0, 40), Blocks: sequence(0, 4), Logits: 1}}); err != nil {
				t.Fatal(err)
			}
			m.Close()
		}
	})
}
