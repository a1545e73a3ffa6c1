package panes

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"llmtop/probes"
	"llmtop/rules"
)

// TestAnySize draws every scene at every small size and at some large ones.
func TestAnySize(t *testing.T) {
	sizes := [][2]int{{0, 0}, {300, 100}, {1000, 10}, {10, 500}, {132, 30}, {131, 30}, {66, 18}}
	for w := 1; w <= 90; w += 1 + w/20 {
		for h := 1; h <= 32; h += 1 + h/8 {
			sizes = append(sizes, [2]int{w, h})
		}
	}
	for _, scene := range scenes {
		f := scene.frame()
		for _, size := range sizes {
			for _, help := range [...]bool{false, true} {
				wantW, wantH := size[0], size[1]
				if wantW == 0 {
					wantW, wantH = 80, 24
				}
				rows := compose(newView(f, 3, help), size[0], size[1])
				if len(rows) != wantH {
					t.Fatalf("%s at %v: %d rows", scene.name, size, len(rows))
				}
				for _, r := range rows {
					if r.width() != wantW {
						t.Fatalf("%s at %v: row of %d cells: %q", scene.name, size, r.width(), r.text())
					}
				}
			}
		}
	}
}

// TestTinyScreenTellsTheVerdict is a screen of 20x4.
func TestTinyScreenTellsTheVerdict(t *testing.T) {
	got := Plain(firingFrame(), 20, 4)
	for _, want := range [...]string{"DEGRADED", "queue-backlog", "TTFT p95"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestColumnsStandStill changes every value by orders of magnitude: labels stay
// where they are.
func TestColumnsStandStill(t *testing.T) {
	labels := func(factor float64) string {
		v := calm(0)
		for name := range v {
			if unit := signalUnit(name); unit != "ratio" {
				v[name] *= factor
			}
		}
		tick := tickOf(sample(0), v, healthy())
		var where []string
		for _, line := range splitLines(Plain(Frame{Ticks: []*rules.Tick{tick}, Title: title}, 80, 24))[2:13] {
			if strings.ContainsAny(line, "▚▓▒") {
				continue // a legend names the largest stage first
			}
			for _, label := range [...]string{"TTFT", "TPOT", "E2E", "req/s", "arrive", "done", "failed", "running", "queue", "KV", "pressure", "others", "free", "run-wait", "rss"} {
				if i := strings.Index(line, label); i >= 0 {
					where = append(where, fmt.Sprint(label, " ", utf8.RuneCountInString(line[:i])))
				}
			}
		}
		return strings.Join(where, ", ")
	}
	want := labels(1)
	for _, factor := range [...]float64{0.001, 0.01, 9, 37} {
		if got := labels(factor); got != want {
			t.Errorf("values times %g move labels:\n%s\n%s", factor, got, want)
		}
	}
}

// TestMissingIsNeverZero draws a tick of which nothing is known.
func TestMissingIsNeverZero(t *testing.T) {
	zero := regexp.MustCompile(`(^|\s)0(\.0+)?([\s/%]|$)`)
	d := rules.Diagnosis{State: rules.Unmeasurable, Reason: "no traffic yet"}
	tick := tickOf(&probes.Sample{Seq: 1, At: noon, Interval: time.Second}, values{}, d)
	tick.Baseline = nil
	for _, size := range [...]struct{ w, h int }{{40, 12}, {80, 24}, {140, 30}} {
		text := Plain(Frame{Ticks: []*rules.Tick{tick}}, size.w, size.h)
		for _, line := range splitLines(text) {
			if zero.MatchString(line) {
				t.Errorf("a zero at %v in %q", size, line)
			}
		}
		if !strings.Contains(text, "UNMEASURABLE") || !strings.Contains(text, "no traffic yet") {
			t.Errorf("at %v the verdict does not say why:\n%s", size, text)
		}
	}
}
