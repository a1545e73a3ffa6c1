package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/panes"
	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
	"llmtop/rules/ruletest"
)

// longIncident is 45 minutes of an engine, flooded twice.
const longIncident = `
show metrics
requests.rate   6x1200 30x120 6x900 30x90 6
stage.queue     0.002x1200 0.1+0.03x120 0.002x900 0.1+0.03x90 0.002
queue.waiting   0x1200 2+1x120 0x900 2+1x90 0
at 2700s  nothing
`

func samplesOf(t testing.TB, script string) []*probes.Sample {
	t.Helper()
	samples, err := ruletest.Samples(strings.NewReader(script), "script")
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

// recordingOf writes samples and opens them.
func recordingOf(t testing.TB, samples []*probes.Sample) *recorded {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.llmrec")
	w, err := record.Create(path, manifest(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		for errors.Is(w.Write(s), record.ErrDropped) {
			w.Flush()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	line, err := newRecorded(r)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// TestJudgedIsFolded: a lean fold, as compare has it, comes to the same verdicts and keeps
// neither ticks nor checkpoints.
func TestJudgedIsFolded(t *testing.T) {
	samples := samplesOf(t, longIncident)
	whole, lean := recordingOf(t, samples), recordingOf(t, samples)
	lean.lean = true
	if _, err := whole.upTo(whole.last()); err != nil {
		t.Fatal(err)
	}
	if err := lean.judge(t.Context(), lean.last(), &progress{}); err != nil {
		t.Fatal(err)
	}
	if len(lean.verdicts) != len(samples) || !slices.Equal(lean.verdicts, whole.verdicts) {
		t.Errorf("%d verdicts, not those of a replay", len(lean.verdicts))
	}
	if len(lean.done.ticks) != 0 || len(lean.aside.all) != 0 || len(whole.aside.all) == 0 {
		t.Errorf("%d ticks and %d checkpoints are kept", len(lean.done.ticks), len(lean.aside.all))
	}
}

// TestJumpsAreTheFold: wherever a replay jumps, forwards or back beyond its history, it
// shows what the fold from the start gives, tick for tick, and does not fold all of it again.
func TestJumpsAreTheFold(t *testing.T) {
	samples := samplesOf(t, longIncident)
	line := recordingOf(t, samples)
	line.aside.every = 150
	live := fold(t)
	var want [][]byte
	degraded := 0
	for _, s := range samples {
		tick := live.Observe(s)
		if tick.Diagnosis.State != rules.Healthy {
			degraded++
		}
		want = append(want, encode(t, tick))
	}
	if degraded < 100 {
		t.Fatalf("%d samples of an incident: the case shows too little", degraded)
	}
	if _, err := line.upTo(len(samples) - 1); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	places := []int{0, 700, 2690, 1210, 1500, 900, 2300, 1330}
	for range 4 {
		places = append(places, rng.IntN(len(samples)))
	}
	for _, i := range places {
		before := line.folds
		ticks, err := line.upTo(i)
		if err != nil {
			t.Fatal(err)
		}
		if n := line.folds - before; n > 2*shownTicks+line.aside.every {
			t.Errorf("to sample %d: %d samples folded", i, n)
		}
		if n := min(i+1, shownTicks/2); len(ticks) < n {
			t.Errorf("at sample %d: %d ticks of history, want %d", i, len(ticks), n)
		}
		for k := range ticks {
			if k%40 != 0 && k != len(ticks)-1 {
				continue
			}
			n := i - len(ticks) + 1 + k
			if got := encode(t, ticks[k]); !bytes.Equal(got, want[n]) {
				t.Fatalf("sample %d on the way to %d:\ngot  %s\nwant %s", n, i, got, want[n])
			}
		}
	}
}

// TestCheckpointsAreBounded: however long the recording, there are few of them, evenly apart.
func TestCheckpointsAreBounded(t *testing.T) {
	c := checkpoints{}
	for at := 1; at <= 500_000; at++ {
		if c.due(at) {
			c.add(at, nil)
		}
	}
	if n := len(c.all); n < mostCheckpoints/2 || n > mostCheckpoints {
		t.Errorf("%d checkpoints", n)
	}
	last := 0
	for _, x := range c.all {
		if x.at-last > 2*c.every {
			t.Errorf("%d and %d are far apart, of %d", last, x.at, c.every)
		}
		last = x.at
	}
	if 500_000-last > 2*c.every {
		t.Errorf("the last is at %d", last)
	}
	if x, ok := c.before(c.all[3].at); !ok || x.at != c.all[3].at {
		t.Errorf("before %d: %d", c.all[3].at, x.at)
	}
	if _, ok := c.before(c.all[0].at - 1); ok {
		t.Error("one before the first")
	}
}

// player is a viewer of a replay whose keys take effect at once.
type player struct {
	t *testing.T
	*viewer
}

func playerOf(t *testing.T, line timeline) *player {
	v := newViewer(line, panes.Frame{}, false)
	v.app = panes.NewApp(nil, v)
	p := &player{t, v}
	v.move(0)
	return p.settle()
}

// settle does all that was asked for.
func (p *player) settle() *player {
	for {
		select {
		case wish := <-p.wishes:
			wish()
			continue
		default:
		}
		if p.chase == nil && !p.comparing.underway() {
			return p
		}
		p.work()
	}
}

func (p *player) at(want int, said string) {
	p.t.Helper()
	if p.viewer.at != want || !strings.Contains(p.said, said) {
		p.t.Errorf("at sample %d saying %q, want %d, %q", p.viewer.at, p.said, want, said)
	}
}

// place is what the screen shows of where it is.
func (p *player) place() panes.Position {
	start, end := p.line.ends()
	at, _ := p.line.when(p.viewer.at)
	return panes.Position{Start: start, End: end, At: at}
}

func (p *player) goTo(text string) error {
	err := p.GoTo(text, p.place())
	p.settle()
	return err
}

// TestGoTo types times.
func TestGoTo(t *testing.T) {
	p := playerOf(t, recording(t, upwards(200), nil))
	for _, c := range []struct {
		text string
		want int
	}{{"90s", 90}, {"+20s", 110}, {"-1m", 50}, {"08:02:03", 123}, {"08:01", 60}, {"2031-04-01T08:00:07Z", 7}, {"end-30s", 169}, {"start", 0}, {"end", 199}, {"+1h", 199}, {"-1h", 0}, {"08:00:09Z", 9}} {
		if err := p.goTo(c.text); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		p.at(c.want, "")
	}
	for _, text := range []string{"25:99", "soon", "09:00", "2032-01-01T00:00:00Z", "-", "+", "end+1h", "1h", "endless"} {
		if err := p.goTo(text); err == nil {
			t.Errorf("%q is taken for a time", text)
		}
	}
	p.at(9, "")
}

// verdicts is a timeline with a verdict for each tick.
func verdicts(states ...rules.State) *history {
	h := &history{}
	for i, s := range states {
		h.push(&rules.Tick{Point: &probes.Point{Sample: &probes.Sample{At: morning.Add(time.Duration(i) * time.Second), Interval: time.Second}}, Diagnosis: rules.Diagnosis{State: s}})
	}
	return h
}

// TestFindings goes to the changes of the verdict, both ways.
func TestFindings(t *testing.T) {
	h, d, u := rules.Healthy, rules.Degraded, rules.Unknown
	p := playerOf(t, verdicts(h, h, d, d, d, u, h, h))
	press := func(n, want int, said string) {
		t.Helper()
		p.Finding(n)
		p.settle().at(want, said)
	}
	press(1, 2, "")
	press(1, 5, "")
	press(1, 6, "")
	press(1, 6, "no other verdict after")
	press(-1, 5, "")
	press(-1, 2, "")
	press(-1, 2, "no other verdict before")
	p.Step(2)
	p.settle()
	press(-1, 2, "")
}

// TestMarksBothWays: marks between samples count at the one after.
func TestMarksBothWays(t *testing.T) {
	p := playerOf(t, recording(t, upwards(50), nil))
	p.ToMark(1)
	p.settle().at(0, "there is no mark")
	for _, s := range []float64{10, 20.5, 30} {
		p.marks = append(p.marks, panes.Mark{At: morning.Add(time.Duration(s * float64(time.Second))), Text: fmt.Sprint("at ", s)})
	}
	press := func(n, want int, said string) {
		t.Helper()
		p.ToMark(n)
		p.settle().at(want, said)
	}
	press(1, 10, "mark: at 10")
	press(1, 21, "mark: at 20.5")
	press(1, 30, "mark: at 30")
	press(1, 30, "no mark after")
	press(-1, 21, "mark: at 20.5")
	press(-1, 10, "mark: at 10")
	press(-1, 10, "no mark before")
	p.JumpTo(p.marks[1].At)
	p.settle().at(21, "mark: at 20.5")
}

// TestGapIsSaid: a gap is named at the sample after it, also while playing past it.
func TestGapIsSaid(t *testing.T) {
	seconds := append(upwards(20), 220, 221, 222)
	p := playerOf(t, recording(t, seconds, nil))
	p.gaps = []record.Gap{{From: morning.Add(time.Second), To: morning.Add(2 * time.Second), Reason: "another"}, {From: morning.Add(20 * time.Second), To: morning.Add(219 * time.Second), Reason: "no space left"}}
	p.Step(20)
	p.settle().at(20, "gap of 3m20s before this: no space left")
	p.Step(1)
	p.settle().at(21, "")
	if p.said != "" {
		t.Errorf("one on it says %q", p.said)
	}
	synctest.Test(t, func(t *testing.T) {
		line := verdicts(make([]rules.State, 100)...)
		for _, tick := range line.ticks[50:] {
			tick.Point.At = tick.Point.At.Add(time.Hour)
		}
		v := newViewer(line, panes.Frame{}, false)
		v.app = panes.NewApp(nil, v)
		v.running, v.pace.speed = true, 64
		playFor(t, v, 1200*time.Millisecond)
		if v.at < 60 || v.said != "gap of 1h0m0s before this" {
			t.Errorf("playing fast, at %d: %q", v.at, v.said)
		}
	})
}

// TestRandomPlay presses keys at random on a damaged recording: the screen stays within
// it, and shows what the fold from the start gives.
func TestRandomPlay(t *testing.T) {
	seconds := append(upwards(300), 500, 501, 502, 503, 100, 101, 102)
	damage := func(b []byte) []byte { b[len(b)/2] ^= 0x40; return b }
	p := playerOf(t, recording(t, seconds, damage))
	p.marks = []panes.Mark{{At: morning.Add(50 * time.Second), Text: "x"}, {At: morning.Add(time.Hour), Text: "y"}}
	rng := rand.New(rand.NewPCG(7, 8))
	texts := []string{"+10s", "-3m", "08:01:00", "end-5s", "nonsense", "08:09", "0s"}
	for i := range 600 {
		switch rng.IntN(11) {
		case 0:
			p.Step(rng.IntN(9) - 4)
		case 1:
			p.Seek(time.Duration(rng.IntN(1200)-600) * time.Second)
		case 2:
			p.Finding(1 - 2*rng.IntN(2))
		case 3:
			p.ToMark(1 - 2*rng.IntN(2))
		case 4:
			p.SetEnd(panes.End(rng.IntN(4)))
		case 5:
			p.Compare(rng.IntN(4) > 0)
		case 6:
			p.TogglePause()
		case 7:
			p.Speed(2)
		case 8:
			p.GoTo(texts[rng.IntN(len(texts))], p.place())
		case 9:
			p.ClearEnds()
		case 10:
			p.JumpTo(morning.Add(time.Duration(rng.IntN(600)) * time.Second))
		}
		if rng.IntN(3) > 0 {
			p.settle()
		}
		if at := p.viewer.at; at < 0 || at > p.line.last() {
			t.Fatalf("key %d: at %d of %d", i, at, p.line.last())
		}
	}
	p.settle()
	ticks, err := p.line.upTo(p.viewer.at)
	if err != nil || len(ticks) == 0 {
		t.Fatal(err)
	}
}
