package machine

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// What a real kernel did to a process that takes whatever it gets: with a quota of 0.3 cores it
// was throttled in each period and waited for three quarters of its time; beside six others on
// two cores it waited as long and was never throttled.
func TestDivideAsKernelsDo(t *testing.T) {
	for _, c := range []struct {
		name            string
		want            want
		wait, throttled float64
		given           float64
	}{
		{"quota", want{cores: 2, engine: 1, quota: 0.3}, 0.72, 1, 0.3},
		{"hogs", want{cores: 2, engine: 2, others: 6}, 0.76, 0, 0.5},
		{"alone", want{cores: 64, engine: 8, varies: 2}, 0.01, 0, 8},
		{"hogs and a quota that is wide", want{cores: 2, engine: 1, others: 6, quota: 1}, 0.73, 0, 0.28},
		{"quota that is just wide enough", want{cores: 16, engine: 3, varies: 0.3, quota: 4}, 0.02, 0.03, 3},
	} {
		s := divide(c.want, 0.012, 0.25)
		for _, n := range []struct {
			name      string
			got, want float64
			within    float64
		}{{"wait", 1 - 1/s.wait, c.wait, 0.04}, {"throttled", s.throttled, c.throttled, 0.03}, {"given", s.given, c.given, 0.06 * max(1, c.given)}} {
			if math.Abs(n.got-n.want) > n.within {
				t.Errorf("%s: %s %.3f, want %.3f", c.name, n.name, n.got, n.want)
			}
		}
	}
}

func TestDivideKeepsWhatThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := want{cores: rapid.Float64Range(1, 512).Draw(t, "cores"), engine: rapid.Float64Range(0, 600).Draw(t, "engine"),
			others: rapid.Float64Range(0, 600).Draw(t, "others"), quota: rapid.SampledFrom([]float64{0, 0.01, 0.5, 3, 64, 1000}).Draw(t, "quota")}
		w.varies = rapid.Float64Range(0, 1).Draw(t, "varies") * w.engine
		s := divide(w, 0.01, 0.2)
		switch {
		case s.given+s.others > w.cores+1e-9:
			t.Fatalf("%+v: %g and %g of %g cores", w, s.given, s.others, w.cores)
		case s.given > w.engine+1e-9 || s.others > w.others+1e-9:
			t.Fatalf("%+v: more than was wanted: %+v", w, s)
		case s.wait < s.core-1e-9 || s.core < 1:
			t.Fatalf("%+v: faster than on free cores: %+v", w, s)
		case w.engine > 0 && math.Abs(w.engine/s.wait-s.given) > 1e-6*w.engine:
			t.Fatalf("%+v: who takes %g times as long has %g, not %g", w, s.wait, w.engine/s.wait, s.given)
		case w.quota == 0 && (s.throttled != 0 || s.stopped != 0):
			t.Fatalf("%+v: throttled without a quota", w)
		case w.quota > 0 && s.given > w.quota+1e-9:
			t.Fatalf("%+v: %g of a quota of %g", w, s.given, w.quota)
		}
	})
}

// All work finds a place on cores, and no core is more than busy.
func TestCoresHoldTheWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 128).Draw(t, "cores")
		c, all, total := newCores(n, 0), numbers(nil, 0, n), 0.0
		for range rapid.IntRange(0, 2*n).Draw(t, "threads") {
			if amount := rapid.Float64Range(heavy, 1).Draw(t, "amount"); c.put(all, rapid.IntRange(0, 1<<20).Draw(t, "from"), amount) {
				total += amount
			}
		}
		light := rapid.Float64Range(0, 1).Draw(t, "light") * (float64(n) - total)
		c.spread(all, light)
		if got := c.sum(); math.Abs(got-total-light) > 1e-6*float64(n) {
			t.Fatalf("%g on the cores, want %g", got, total+light)
		}
		for i, u := range c.used {
			if u < 0 || u > 1 {
				t.Fatalf("core %d is %g busy", i, u)
			}
		}
	})
}

func TestNodes(t *testing.T) {
	for _, c := range []struct {
		cores, gpus int
		want        []string
	}{{64, 8, []string{"0-31", "32-63"}}, {64, 2, []string{"0-63"}}, {1, 1, []string{"0"}}, {2, 4, []string{"0", "1"}}} {
		got := nodesOf(c.cores, c.gpus)
		if len(got) != len(c.want) {
			t.Fatalf("%d cores, %d GPUs: %d nodes", c.cores, c.gpus, len(got))
		}
		for i := range got {
			if got[i].cpus != c.want[i] {
				t.Errorf("%d cores, %d GPUs: node %d has %s, want %s", c.cores, c.gpus, i, got[i].cpus, c.want[i])
			}
		}
	}
}
