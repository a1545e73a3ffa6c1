package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"llmtop/rules"
)

// stretchesFrame is the replay with both stretches chosen.
func stretchesFrame() Frame {
	f := replayFrame()
	at := f.Position.At
	f.Against = Stretch{at.Add(-3 * time.Minute), at.Add(-2 * time.Minute)}
	f.Selected = Stretch{at.Add(-time.Minute), at}
	return f
}

// comparison is made up: a queue, and everything there is to show of a signal.
func comparison(at time.Time) *rules.Comparison {
	value := func(v float64) *float64 { return &v }
	change := func(signal, unit string, before, after, noise float64) rules.Change {
		return rules.Change{Signal: signal, Unit: unit, Before: value(before), After: value(after), Difference: value(after - before), Ratio: value(after / before), Noise: noise, Moved: true}
	}
	c := &rules.Comparison{
		Before: rules.Side{Name: "before a", From: at.Add(-2 * time.Minute), To: at.Add(-61 * time.Second), Samples: 60, Requests: 412, Verdicts: []rules.VerdictShare{{State: rules.Healthy, Share: 1}}},
		After: rules.Side{Name: "a–b", From: at.Add(-time.Minute), To: at, Samples: 61, Requests: 1250,
			Verdicts: []rules.VerdictShare{{State: rules.Degraded, Cause: "queue-backlog", Share: 0.9}, {State: rules.Healthy, Share: 0.1}}},
		Added: []rules.Added{
			{Of: "ttft", DeltaSeconds: 1.2, Parts: []rules.Attribution{{Of: "ttft", Stage: "queue", DeltaSeconds: 1.14, Share: 0.95}, {Of: "ttft", Stage: "prefill", DeltaSeconds: 0.06, Share: 0.05}}},
			{Of: "tpot", DeltaSeconds: -0.003, Parts: []rules.Attribution{{Of: "tpot", Stage: "decode", DeltaSeconds: -0.003, Share: 1}}},
		},
		Changes: []rules.Change{
			change("ttft.p50", "s", 0.010, 1.9, 0.02), change("tpot.p95", "s", 0.015, 0.012, 0.0005),
			change("stage.prefill.share", "ratio", 0.8, 0.05, 0.1), change("prefill.per_token", "s/token", 0.0004, 0.0008, 0.0001),
			change("host.memory_free", "bytes", 24<<30, 2<<30, 1<<20), change("gpu.power", "W", 400, 650, 5),
			{Signal: "refused.share", Unit: "ratio", Before: value(0), After: value(0.56), Difference: value(0.56), Noise: 0.005, Moved: true},
			{Signal: "profile.gc_share", Unit: "ratio", After: value(0.2), Moved: true},
			{Signal: "kv.usage", Unit: "ratio", Before: value(0.31), After: value(0.32), Difference: value(0.01), Noise: 0.05},
		},
		Unseen: 14,
	}
	for i := range 30 {
		c.Changes = append([]rules.Change{change(fmt.Sprintf("signal.number%02d", i), "1/s", 9, 57, 1)}, c.Changes...)
	}
	c.Changes = append(c.Changes[30:38], append(c.Changes[:30:30], c.Changes[38])...)
	return c
}

func compareFrame() Frame {
	f := stretchesFrame()
	f.Against, f.Position.Playing = Stretch{}, false
	f.Comparing = &Comparing{Done: 1, Result: comparison(f.Position.At)}
	return f
}

// TestCompareScreens draws the chosen stretches and the comparison at three sizes.
func TestCompareScreens(t *testing.T) {
	for name, frame := range map[string]func() Frame{"stretches": stretchesFrame, "compare": compareFrame} {
		for _, size := range sizes {
			name := fmt.Sprintf("%s.%dx%d", name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				golden(t, name+".screen", start(t, size.w, size.h, &recorder{}).show(frame()))
			})
		}
	}
}

// TestCompareScrollsAndCloses: every signal can be reached; c and Esc close the pane.
func TestCompareScrollsAndCloses(t *testing.T) {
	c := &recorder{}
	r := start(t, 40, 12, c)
	r.show(compareFrame())
	end := ""
	for range 9 {
		end = r.press(tcell.KeyPgDn, 0, 0, func(*App) bool { return true })
	}
	if !strings.Contains(end, "1 more within noise, 14 not seen") {
		t.Errorf("not at the end:\n%s", end)
	}
	r.typed('c', func(a *App) bool { return a.scroll == 0 })
	r.press(tcell.KeyEscape, 0, 0, func(a *App) bool { return len(c.calls) == 2 })
	if got := strings.Join(c.calls, "; "); got != "compare false; compare false" {
		t.Errorf("asked for %s", got)
	}
}

// TestCompareAtAnySize draws the pane everywhere, also while it is computed and with nothing in it.
func TestCompareAtAnySize(t *testing.T) {
	full, working, empty := compareFrame(), compareFrame(), compareFrame()
	working.Comparing = &Comparing{Done: 0.4}
	empty.Comparing = &Comparing{Result: &rules.Comparison{}}
	for _, f := range []Frame{full, working, empty, stretchesFrame()} {
		for w := 1; w <= 170; w += 1 + w/20 {
			for h := 1; h <= 50; h += 1 + h/8 {
				v := newView(f, 1000, false)
				v.prompt = &prompt{text: []rune("04:05"), err: "no time"}
				rows := compose(v, w, h)
				if len(rows) != h {
					t.Fatalf("%dx%d: %d rows", w, h, len(rows))
				}
				for _, r := range rows {
					if r.width() != w {
						t.Fatalf("%dx%d: a row of %d cells: %q", w, h, r.width(), r.text())
					}
				}
			}
		}
	}
}

// TestForeignTextInComparison: names come from files.
func TestForeignTextInComparison(t *testing.T) {
	f := compareFrame()
	f.Comparing.Result.After.Name = "\x1b[2J[red]evil"
	f.Comparing.Result.After.Verdicts[0].Cause = "\x1b]0;title\x07"
	f.Comparing.Result.Changes[0].Signal = "sig\x1b[31m\nnal"
	if text := Plain(f, 80, 24); strings.ContainsAny(text, "\x1b\x07") {
		t.Errorf("%q", text)
	}
}
