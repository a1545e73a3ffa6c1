package drill

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/engine/twin/knob"
)

func TestMerged(t *testing.T) {
	for _, c := range []struct{ lines, more, want string }{
		{"engine vllm a=1 b=2|cpus 8", "engine b=3 c=4", "engine vllm a=1 b=3 c=4|cpus 8"},
		{"engine vllm a=1", "engine sglang", "engine sglang a=1"},
		{"engine a=1", "engine tgi b=2", "engine tgi a=1 b=2"},
		{"gpu l4", "engine b=3", "gpu l4|engine b=3"},
		{"cpus 8|canary 10s", "cpus 16", "cpus 16|canary 10s"},
		{"at 5s gc 0.1", "at 6s gc 0.2", "at 5s gc 0.1|at 6s gc 0.2"},
	} {
		if got := strings.Join(merged(strings.Split(c.lines, "|"), strings.Split(c.more, "|")), "|"); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.lines, c.more, got, c.want)
		}
	}
}

func TestStage(t *testing.T) {
	i := slowed()
	i.Drill.Twin.Turns = []string{"power_cap {x}W", "+20s gpu0 compute ×0.5"}
	i.Drill.Twin.Lines = []string{"engine max_num_seqs=32", "interval 2s"}
	s, err := i.stage(250)
	if err != nil {
		t.Fatal(err)
	}
	if s.Limits.MaxNumSeqs != 32 || s.Interval != 2*time.Second || s.Personality != "vllm" || s.Canary != 10*time.Second {
		t.Errorf("%+v", s.Scenario)
	}
	if got := s.Duration - s.Onset; got < 44*time.Second || got > 46*time.Second {
		t.Errorf("the fault lasts %s", got)
	}
	if len(s.Timeline) != 2 || s.Timeline[0].At != s.Onset || s.Timeline[0].Change.Value != 250 || s.Timeline[1].At != s.Onset+20*time.Second || s.Timeline[1].Change.Knob != knob.Compute {
		t.Errorf("timeline %+v, onset %s", s.Timeline, s.Onset)
	}
	can, err := s.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	if rate := s.Workload.MeanRate(); math.Abs(rate/can.Capacity-i.World.Load) > 0.02*i.World.Load {
		t.Errorf("%.3g requests a second of %.3g, want a share of %g", rate, can.Capacity, i.World.Load)
	}
	stronger, err := i.stage(200)
	if err != nil || stronger.Seed != s.Seed || stronger.Onset != s.Onset || !stronger.Start.Equal(s.Start) {
		t.Errorf("another strength has other luck: %v", err)
	}
	i.Drill.ID = "another"
	if other, err := i.stage(250); err != nil || other.Seed == s.Seed || other.Onset == s.Onset || other.Start.Equal(s.Start) {
		t.Errorf("another drill has the same luck: %v", err)
	}
}

// Onsets are spread over their time.
func TestOnset(t *testing.T) {
	var all []time.Duration
	i := slowed()
	for seed := range 200 {
		i.Seed = uint64(seed)
		all = append(all, i.chance().onset)
	}
	if least, most := slices.Min(all), slices.Max(all); least < onsetFrom || most >= onsetTo || most-least < 35*time.Second {
		t.Errorf("from %s to %s", least, most)
	}
}

func TestDial(t *testing.T) {
	for _, d := range []Dial{{From: 1, To: 1000}, {From: 700, To: 100}, {From: 0, To: 1}, {From: 1, To: 0}} {
		for _, place := range []float64{0, 0.25, 0.5, 1} {
			if got := d.place(d.at(place)); math.Abs(got-place) > 1e-3 {
				t.Errorf("%+v: %g became %g", d, place, got)
			}
		}
	}
	if got := filled("a {x}W {x}", &Dial{}, 0.000012); got != "a 0.000012W 0.000012" {
		t.Errorf("%q", got)
	}
	if got := (&Dial{From: 1, To: 10, Whole: true}).at(0.5); got != 3 {
		t.Errorf("%g is not whole", got)
	}
}
