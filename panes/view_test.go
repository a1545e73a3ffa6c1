package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/rules"
)

func TestGapsAreGaps(t *testing.T) {
	f := replayFrame()
	v := newView(f, 0, false)
	for i := range f.Ticks {
		want := time.Duration(0)
		if i == history-10 {
			want = 30 * time.Second
		}
		if got := v.gap(i); got != want {
			t.Errorf("gap before tick %d is %v, want %v", i, got, want)
		}
	}
	if n := strings.Count(v.sparkline("ttft.p95", history), "╎"); n != 1 {
		t.Errorf("%d gap signs, want 1", n)
	}
}

// TestGapAtTheLastTick is told in the title.
func TestGapAtTheLastTick(t *testing.T) {
	f := normalFrame()
	f.Ticks = append(f.Ticks[:history-20], f.Ticks[history-1])
	if got := titleRow(newView(f, 0, false), 80).text(); !strings.Contains(got, "╎ gap 19 s") {
		t.Errorf("got %q", got)
	}
}

// TestLastKnownValues keeps the values of a silent engine, old; a signal that is
// missing while its source answers stays missing.
func TestLastKnownValues(t *testing.T) {
	v := newView(staleFrame(), 0, false)
	want := calm(history - 13)["ttft.p95"]
	if got := v.sig("ttft.p95"); got.Or(0) != want {
		t.Errorf("got %v, want the last value known, %v", got, want)
	}
	if age, isOld := v.age(v.engineAt()); !isOld || age < 12*time.Second {
		t.Errorf("age %v, old %v", age, isOld)
	}
	f := normalFrame()
	f.Ticks[history-1] = tickOf(sample(history-1), values{}, healthy())
	if got := newView(f, 0, false).sig("ttft.p95"); got.Seen() {
		t.Errorf("a fresh engine without a value shows %v", got)
	}
}

func TestStaleKnowsTheProbesInterval(t *testing.T) {
	f := normalFrame()
	s := f.Ticks[history-1].Point.Sample
	at := s.At.Add(-20 * time.Second)
	v := newView(f, 0, false)
	if _, isOld := v.age(at); !isOld {
		t.Error("20 s is not old at 1 Hz")
	}
	s.Probes = append(s.Probes, probes.ProbeStatus{Name: "slow", At: at, EverySeconds: 10})
	if _, isOld := v.age(at); isOld {
		t.Error("20 s is old for a probe that reads every 10 s")
	}
}

// TestSparklineMovesInSteps adds one tick: cells shift or stay, but do not change.
func TestSparklineMovesInSteps(t *testing.T) {
	ticks := calmTicks()
	before := []rune(newView(Frame{Ticks: ticks[:history-1]}, 0, false).sparkline("requests.rate", 40))
	after := []rune(newView(Frame{Ticks: ticks}, 0, false).sparkline("requests.rate", 40))
	same := string(before[1:39]) == string(after[1:39])
	shifted := string(before[2:39]) == string(after[1:38])
	if !same && !shifted {
		t.Errorf("shimmers:\n%s\n%s", string(before), string(after))
	}
}

func TestProbeWords(t *testing.T) {
	v := newView(normalFrame(), 0, false)
	at := v.at.Add(-time.Second)
	cases := []struct {
		status probes.ProbeStatus
		want   string
	}{
		{probes.ProbeStatus{At: at, EverySeconds: 1}, "ok"},
		{probes.ProbeStatus{At: at, EverySeconds: 1, Err: "refused"}, "error"},
		{probes.ProbeStatus{At: v.at.Add(-9 * time.Second), EverySeconds: 1, Err: "refused"}, "error, 9 s old"},
		{probes.ProbeStatus{At: v.at.Add(-9 * time.Second), EverySeconds: 1}, "9 s old"},
		{probes.ProbeStatus{At: at, EverySeconds: 1, PendingSeconds: probes.Some(9.0)}, "hung 9 s"},
		{probes.ProbeStatus{At: at, EverySeconds: 60, PendingSeconds: probes.Some(9.0)}, "ok"},
		{probes.ProbeStatus{EverySeconds: 1}, "–"},
	}
	for _, c := range cases {
		if got, _ := probeWord(v, &c.status); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.status, got, c.want)
		}
	}
}

func TestWorstDevices(t *testing.T) {
	some := func(i int, busy float64) probes.GPUDevice {
		return probes.GPUDevice{Index: i, KernelActiveRatio: probes.Some(busy)}
	}
	lost, held := some(2, 0), some(3, 0.1)
	lost.Err, held.ThrottleBits = "lost", probes.Some(probes.ThrottleHWThermal)
	var order []int
	for _, d := range worst([]probes.GPUDevice{some(0, 0.5), some(1, 0.9), lost, held}, 3) {
		order = append(order, d.Index)
	}
	if order[0] != 2 || order[1] != 3 || order[2] != 1 {
		t.Errorf("got %v, want the lost, the held back, the busiest", order)
	}
}

// Instances of one GPU are told apart, and have no columns for what is the board's.
func TestInstanceRows(t *testing.T) {
	part := func(profile string, id uint64) probes.GPUDevice {
		return probes.GPUDevice{At: noon, UUID: profile + fmt.Sprint(id), Parent: "GPU-A", Instance: profile, InstanceID: probes.Some(id), SMActiveRatio: probes.Some(float64(id) / 10)}
	}
	g := &probes.GPU{At: noon, Devices: []probes.GPUDevice{{At: noon, UUID: "GPU-A", MIG: true, PowerWatts: probes.Some(300.0), PowerLimitWatts: probes.Some(700.0)},
		part("2g.35gb", 1), part("1g.18gb", 7), part("1g.18gb", 9), part("", 3)}}
	v := &view{tick: &rules.Tick{Point: &probes.Point{Sample: &probes.Sample{GPU: g}}}, at: noon}
	text := func(most int) (out []string) {
		for _, r := range gpuRows(v, 80, most) {
			out = append(out, strings.TrimSpace(r.text()))
		}
		return out
	}
	all := text(9)
	for i, begin := range []string{"GPU0 ", "GPU0·2g.35gb SM", "GPU0·1g.18gb#7 SM", "GPU0·1g.18gb#9 SM", "GPU0·MIG"} {
		if !strings.HasPrefix(all[i], begin) || strings.Contains(all[i], "°C") {
			t.Errorf("row %d is %q", i, all[i])
		}
	}
	if !strings.Contains(all[0], "300/700W") || strings.Contains(all[1], "–/") {
		t.Errorf("%q", all)
	}
	if busiest := text(1); !strings.HasPrefix(busiest[0], "GPU0·1g.18gb#9 SM    90 %") {
		t.Errorf("the busiest is %q", busiest)
	}
}

// What is wrong with a device is not cut off for what is well, and why it was lost is told first.
func TestGPUTroubleHasRoom(t *testing.T) {
	d := devices(noon).Devices[0]
	d.PCIeWidth, d.PCIeWidthMax = probes.Some(4.0), probes.Some(16.0)
	v := &view{tick: &rules.Tick{Point: &probes.Point{Sample: &probes.Sample{}}}, at: noon}
	if text := gpuRow(v, 79, " GPU0", &d).text(); width(text) > 79 || !strings.HasSuffix(text, "⚠ PCIe ×4 of ×16") || strings.Contains(text, "mem") {
		t.Errorf("%q", text)
	}
	if text := gpuRow(v, 140, " GPU0", &d).text(); !strings.Contains(text, "mem") || !strings.HasSuffix(text, "⚠ PCIe ×4 of ×16") {
		t.Errorf("%q", text)
	}
	d.Err, d.XidTotal, d.LastXid = "the GPU is lost", probes.Some[uint64](1), probes.Some[uint64](79)
	if text := gpuRow(v, 79, " GPU0", &d).text(); !strings.Contains(text, "Xid 79, the GPU is lost") {
		t.Errorf("%q", text)
	}
}

func TestVerdicts(t *testing.T) {
	since := noon.Add(-14 * time.Second)
	cases := []struct {
		name string
		d    rules.Diagnosis
		want string
	}{
		{"unknown cause", rules.Diagnosis{State: rules.Unknown, Symptoms: []rules.Symptom{{Signal: "ttft.p95", From: 0.12, To: 2.4, Unit: "s", Since: since}}},
			" DEGRADED  cause unknown: no rule fits · TTFT p95 0.12→2.4 s · began 14 s ago"},
		{"limit", rules.Diagnosis{State: rules.Degraded, Causes: []rules.Cause{{ID: "bandwidth-bound-decode", Limit: true, Since: since}}},
			" DEGRADED  bandwidth-bound-decode (hardware limit) · began 14 s ago"},
		{"two causes", rules.Diagnosis{State: rules.Degraded, Causes: []rules.Cause{{ID: "power-cap"}, {ID: "mix-shift"}}},
			" DEGRADED  power-cap · also mix-shift"},
		{"worst symptom", rules.Diagnosis{State: rules.Degraded, Causes: []rules.Cause{{ID: "a"}},
			Symptoms: []rules.Symptom{{Signal: "e2e.p50", From: 1, To: 2, Unit: "s"}, {Signal: "tpot.p50", From: 0.01, To: 0.05, Unit: "s"}}},
			" DEGRADED  a · TPOT p50 10→50 ms"},
		{"unmeasurable", rules.Diagnosis{State: rules.Unmeasurable, Reason: "no requests yet"}, " UNMEASURABLE  no requests yet"},
		{"unmeasurable without reason", rules.Diagnosis{State: rules.Unmeasurable}, " UNMEASURABLE  nothing to judge by"},
		{"a state of a later llmtop", rules.Diagnosis{State: "odd"}, " ODD "},
	}
	for _, c := range cases {
		s := sample(0)
		f := Frame{Ticks: []*rules.Tick{tickOf(s, values{}, c.d)}}
		if got := strings.TrimRight(verdictRows(newView(f, 0, false), 120, 1)[0].text(), " "); got != strings.TrimRight(c.want, " ") {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}

// TestSilentEngine: the verdict leaves the address to the title, so that the reason is
// seen at 80 columns, and the diagnosis says that it is an old one.
func TestSilentEngine(t *testing.T) {
	f := firingFrame()
	d := &f.Ticks[len(f.Ticks)-1].Diagnosis
	d.State, d.Reason = rules.Unmeasurable, "the engine no longer answers: http://127.0.0.1:42345/metrics: nothing listens there (connection refused)"
	text := Plain(f, 80, 24)
	first, rest, _ := strings.Cut(text, "\n")
	if !strings.Contains(first, "nothing listens there (connection") {
		t.Errorf("the reason is cut: %q", first)
	}
	if !strings.Contains(rest, "diagnosis before it fell silent") {
		t.Errorf("an old diagnosis passes for a new one:\n%s", text)
	}
}

// TestRecordingStopped: a recording that does not grow says so at every width.
func TestRecordingStopped(t *testing.T) {
	f := firingFrame()
	f.Unrecorded = "no space left on device"
	for _, w := range [...]int{40, 80, 160} {
		if text := Plain(f, w, 24); !strings.Contains(text, "REC STOPPED") || (w >= 80 && !strings.Contains(text, f.Unrecorded)) {
			t.Errorf("at %d:\n%s", w, text)
		}
	}
}

// TestRingIsSaid: what is kept in memory, the file it is written to and for how long,
// and why it was not.
func TestRingIsSaid(t *testing.T) {
	for _, c := range []struct {
		change func(*Frame)
		want   string
	}{
		{func(f *Frame) {}, "ring 15m"},
		{func(f *Frame) { f.Recording, f.RecordingLeft = "a.llmrec", 257*time.Second }, "● REC a.llmrec 4:17 more"},
		{func(f *Frame) { f.Unrecorded = "the disk is full" }, "NOT KEPT  the disk is full"},
		{func(f *Frame) { f.Recording, f.Unrecorded = "a.llmrec", "the disk is full" }, "REC STOPPED  the disk is full"},
	} {
		f := normalFrame()
		f.Recording, f.Ring = "", "15m"
		c.change(&f)
		if text := Plain(f, 120, 24); !strings.Contains(text, c.want) {
			t.Errorf("no %q:\n%s", c.want, text)
		}
	}
}

// TestHealthyFitsItsLine: at 80 columns nothing of the healthy verdict is cut.
func TestHealthyFitsItsLine(t *testing.T) {
	first, _, _ := strings.Cut(Plain(normalFrame(), 80, 24), "\n")
	if strings.Contains(first, "…") || !strings.HasSuffix(strings.TrimRight(first, " "), "baseline window") {
		t.Errorf("%q", first)
	}
}

// TestTroubleIsNotCut: probes in trouble take the place of llmtop's own cost.
func TestTroubleIsNotCut(t *testing.T) {
	lines := strings.Split(strings.TrimRight(Plain(staleFrame(), 80, 24), "\n"), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "nvml hung 12 s") {
		t.Errorf("%q", last)
	}
}
