package score

import (
	"testing"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
)

func TestAnswer(t *testing.T) {
	two := fault("kv-preemption-storm")
	two.Expects = []string{"kv-preemption-storm", "kv-retraction-collapse"}
	noGPU := fault("power-cap")
	noGPU.SeenBy, noGPU.Missing, noGPU.Stage = []string{"gpu", "host"}, []string{"gpu"}, "decode"
	seen := noGPU
	seen.Missing = []string{"profile"}
	lacks := func(state, stage string, sources ...string) drill.Verdict {
		return drill.Verdict{At: at(110), State: state, Stage: stage, Lacks: sources}
	}
	note := truth("load-drop", drill.Note)
	noted := drill.Verdict{At: at(110), State: Healthy, Says: []string{"load-drop"}}
	allowed := truth("control", drill.Healthy)
	allowed.Allows = []string{"cold-start"}
	short := fault("power-cap")
	short.To = at(110)
	for _, c := range []struct {
		name     string
		truth    drill.Truth
		verdicts []drill.Verdict
		want     string
	}{
		{"named", fault("power-cap"), []drill.Verdict{says(0, Healthy), says(110, "power-cap")}, "power-cap"},
		{"what stood longest in the last 30 s, not before", fault("power-cap"), []drill.Verdict{says(100, "a"), says(171, "power-cap"), says(187, "b")}, "power-cap"},
		{"though not at a stretch", fault("power-cap"), []drill.Verdict{says(170, "power-cap"), says(178, "a"), says(186, Healthy), says(190, "power-cap")}, "power-cap"},
		{"of equals the later", fault("power-cap"), []drill.Verdict{says(100, "a"), says(185, "b")}, "b"},
		{"the onset bounds the time", short, []drill.Verdict{says(0, "a"), says(104, "power-cap")}, "power-cap"},
		{"nothing said", fault("power-cap"), nil, Unmeasurable},
		{"healthy", fault("power-cap"), []drill.Verdict{says(0, Healthy)}, Healthy},
		{"silent, with what was named before", fault("power-cap"), []drill.Verdict{says(0, Unmeasurable, "power-cap")}, Unmeasurable},
		{"a stage alone is unknown", fault("power-cap"), []drill.Verdict{lacks(degraded, "decode")}, Unknown},
		{"any of the expected", two, []drill.Verdict{says(110, "kv-retraction-collapse"), says(185, "kv-preemption-storm")}, "kv-preemption-storm"},
		{"outside: unknown", truth("outside_x", drill.Outside), []drill.Verdict{says(110, Unknown)}, Unknown},
		{"outside: a stage alone", truth("outside_x", drill.Outside), []drill.Verdict{lacks(degraded, "decode")}, Unknown},
		{"outside: a cause is wrong", truth("outside_x", drill.Outside), []drill.Verdict{says(110, "power-cap")}, "power-cap"},
		{"note", note, []drill.Verdict{noted}, "load-drop"},
		{"a note that is not said", note, []drill.Verdict{says(0, Healthy)}, Healthy},
		{"a note called a fault", note, []drill.Verdict{says(0, "load-drop")}, "load-drop (as a fault)"},
		{"hidden: the stage and what is missing", noGPU, []drill.Verdict{lacks(Unknown, "decode", "gpu")}, "power-cap"},
		{"hidden: not the stage", noGPU, []drill.Verdict{lacks(Unknown, "prefill", "gpu")}, Unknown},
		{"hidden: not what is missing", noGPU, []drill.Verdict{lacks(Unknown, "decode", "profile")}, Unknown},
		{"hidden: a wrong name is wrong", noGPU, []drill.Verdict{{At: at(110), State: degraded, Causes: []string{"a"}, Stage: "decode", Lacks: []string{"gpu"}}}, "a"},
		{"not hidden: the stage is not enough", seen, []drill.Verdict{lacks(Unknown, "decode", "gpu")}, Unknown},
		{"control", truth("control", drill.Healthy), []drill.Verdict{says(0, Unmeasurable), says(5, Healthy)}, Healthy},
		{"control with an alarm", truth("control", drill.Healthy), []drill.Verdict{says(0, Healthy), says(50, "a"), says(51, Unknown), says(53, Healthy)}, Unknown},
		{"control with what it allows", allowed, []drill.Verdict{says(0, "cold-start"), says(50, Healthy)}, Healthy},
	} {
		if got := Answer(&c.truth, c.verdicts); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAmongThree(t *testing.T) {
	f := fault("power-cap")
	for _, c := range []struct {
		name     string
		verdicts []drill.Verdict
		want     bool
	}{
		{"second", []drill.Verdict{says(110, "a", "power-cap")}, true},
		{"third, for more than half of the time", []drill.Verdict{says(110, "a", "b", "power-cap"), says(186, "a")}, true},
		{"half of the time is not enough", []drill.Verdict{says(110, "a", "b", "power-cap"), says(185, "a")}, false},
		{"fourth", []drill.Verdict{says(110, "a", "b", "c", "power-cap")}, false},
		{"not", []drill.Verdict{says(110, "a")}, false},
	} {
		if got := amongThree(&f, c.verdicts); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestDelay(t *testing.T) {
	f := fault("power-cap")
	for _, c := range []struct {
		name     string
		verdicts []drill.Verdict
		want     float64 // seconds; negative: none
	}{
		{"at once and for good", []drill.Verdict{says(0, Healthy), says(107, "power-cap")}, 7},
		{"a flap that is less than a tenth of the rest", []drill.Verdict{says(110, "power-cap"), says(150, "a"), says(158, "power-cap")}, 10},
		{"a flap that is more", []drill.Verdict{says(110, "power-cap"), says(150, "a"), says(160, "power-cap")}, 60},
		{"a first glimpse does not count", []drill.Verdict{says(101, "power-cap"), says(102, Healthy), says(140, "power-cap")}, 40},
		{"before the onset already", []drill.Verdict{says(50, "power-cap")}, 0},
		{"gone again", []drill.Verdict{says(110, "power-cap"), says(180, Healthy)}, -1},
		{"never", []drill.Verdict{says(0, Healthy)}, -1},
	} {
		got, ok := Delay(&f, c.verdicts)
		if ok != (c.want >= 0) || ok && got != time.Duration(c.want*float64(time.Second)) {
			t.Errorf("%s: %s %t, want %g s", c.name, got, ok, c.want)
		}
	}
}

func TestFalseAlarms(t *testing.T) {
	control, f := truth("control", drill.Healthy), fault("power-cap")
	control.Allows = []string{"cold-start"}
	for _, c := range []struct {
		name     string
		truth    drill.Truth
		verdicts []drill.Verdict
		want     int
	}{
		{"none", control, []drill.Verdict{says(0, Unmeasurable), says(3, Healthy)}, 0},
		{"one of a single sample", control, []drill.Verdict{says(0, Healthy), says(40, "a"), says(41, Healthy)}, 1},
		{"59 s apart are one", control, []drill.Verdict{says(0, "a"), says(40, Healthy), says(99, Unknown), says(100, Healthy)}, 1},
		{"60 s apart are two", control, []drill.Verdict{says(0, "a"), says(40, Healthy), says(100, Unknown), says(101, Healthy)}, 2},
		{"another cause is no other alarm", control, []drill.Verdict{says(0, "a"), says(10, "b"), says(20, Unknown)}, 1},
		{"what is allowed", control, []drill.Verdict{says(0, "cold-start", "a"), says(30, Healthy)}, 0},
		{"before the onset", f, []drill.Verdict{says(0, "a"), says(30, Healthy), says(101, "power-cap")}, 1},
		{"after the onset it is no alarm", f, []drill.Verdict{says(0, Healthy), says(101, "a")}, 0},
	} {
		if got := episodes(falseAlarms(&c.truth, c.verdicts)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
