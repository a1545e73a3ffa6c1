package probes

import (
	"slices"
	"testing"
	"time"
)

// story feeds a watcher samples a second apart and returns what it says, with the second.
func story(seconds int, at func(second int, s *Sample)) (out []string) {
	var w watcher
	for i := range seconds {
		s := &Sample{At: sec(float64(i)), Mono: time.Duration(i) * time.Second}
		at(i, s)
		for _, e := range w.events(s) {
			out = append(out, e.At.Sub(sec(0)).String()+" "+e.Kind+" "+e.Text)
		}
	}
	return out
}

func TestProbeErrorsBeginAndEnd(t *testing.T) {
	got := story(60, func(i int, s *Sample) {
		err := ""
		if i == 5 || i == 9 || i == 12 { // it flickers: one trouble
			err = "refused"
		}
		s.Probes = []ProbeStatus{{Name: "scrape", Err: err}, {Name: "host"}, {Name: "profile", Err: "not exposed", Lacks: true}}
	})
	want := []string{"5s probe-error probe scrape: refused", "22s probe-error probe scrape: over, after 7 s"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestGPUEvents(t *testing.T) {
	got := story(80, func(i int, s *Sample) {
		d := GPUDevice{Index: 1, UUID: "GPU-1", KernelActiveRatio: Some(0.5), ThrottleBits: Some(ThrottleIdle), XidTotal: Some(uint64(0))}
		switch {
		case i >= 10 && i < 30 && i%2 == 0:
			d.ThrottleBits = Some(ThrottlePowerCap | ThrottleAppClocks)
		case i >= 50 && i < 53:
			d = GPUDevice{Index: 1, UUID: "GPU-1", Err: "the GPU is lost", KernelActiveRatio: None[float64](Lost), ThrottleBits: None[uint64](Lost)}
		}
		if i >= 45 {
			d.XidTotal, d.LastXid = Some(uint64(2)), Some(uint64(79))
		}
		s.GPU = &GPU{Devices: []GPUDevice{d}}
	})
	want := []string{
		"10s gpu-throttle GPU 1: power cap", "38s gpu-throttle GPU 1: no more power cap, after 18 s",
		"45s gpu-xid GPU 1: Xid 79 and 1 before it", "50s gpu-lost GPU 1: the GPU is lost", "1m2s gpu-lost GPU 1: over, after 2 s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
