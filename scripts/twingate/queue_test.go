package main

import (
	"math"
	"testing"
)

// TestQueueing is the gate with fewer requests: waiting times within 5 % of the theory.
func TestQueueing(t *testing.T) {
	for n, v := range services() {
		for k, load := range loads {
			requests := v.requests / 4
			if raceEnabled { // it is slow then, and there is nothing to race
				requests /= 20
			}
			w, err := v.measure(load, requests, uint64(100+10*n+k))
			if err != nil {
				t.Fatal(err)
			}
			off := math.Abs(w.mean/v.theory(load) - 1)
			if allowed := 0.05; off > allowed && !raceEnabled || off > 0.5 {
				t.Errorf("%s at %.0f %%: %.3f ms, %.3f ms by theory", v.name, 100*load, 1e3*w.mean, 1e3*v.theory(load))
			}
		}
	}
}
