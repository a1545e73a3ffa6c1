package panes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

func goodCanary(at time.Time) *probes.Canary {
	return &probes.Canary{At: at, Endpoint: "http://127.0.0.1:8000", Status: 200, Sent: probes.Some(12.0), Failed: probes.Some(0.0),
		Tokens: probes.Some(8.0), Chunks: probes.Some(8.0), DialSeconds: probes.Some(0.0004),
		TTFTSeconds: probes.Some(0.120), ITLSeconds: probes.Some(0.020), MaxITL: probes.Some(0.031), E2ESeconds: probes.Some(0.26)}
}

// canaryFrame is the firing frame with canaries.
func canaryFrame(change func(at time.Time) []*probes.Canary) Frame {
	f := firingFrame()
	last := f.Ticks[history-1].Point
	last.Canaries = change(last.At)
	for _, c := range last.Canaries {
		last.Probes = append(last.Probes, probes.ProbeStatus{Name: "canary " + c.Endpoint, At: c.At, EverySeconds: 10, LatencySeconds: probes.Some(0.26)})
	}
	return f
}

func TestCanaryScreens(t *testing.T) {
	frame := canaryFrame(func(at time.Time) []*probes.Canary { return []*probes.Canary{goodCanary(at.Add(-7 * time.Second))} })
	for _, size := range [...]struct{ w, h int }{{80, 24}, {160, 48}} {
		golden(t, fmt.Sprintf("canary.%dx%d.screen", size.w, size.h), start(t, size.w, size.h, &recorder{}).show(frame))
	}
}

func TestCanaryRow(t *testing.T) {
	bad := func(at time.Time) *probes.Canary {
		return &probes.Canary{At: at, Endpoint: "http://h:9000", Status: 503, Err: "the server answered 503 \x1b[31mService\nUnavailable",
			Sent: probes.Some(9.0), Failed: probes.Some(2.0)}
	}
	cases := []struct {
		name string
		all  func(at time.Time) []*probes.Canary
		want string
		tone tone // of the part that begins with mark
		mark string
	}{
		{"none", func(time.Time) []*probes.Canary { return nil }, "", plain, ""},
		{"good", func(at time.Time) []*probes.Canary { return []*probes.Canary{goodCanary(at)} },
			" canary TTFT 120 ms (server p50 1.1 s)  ITL 20 ms  8 tokens in 8 reads  failed 0", plain, "8 tokens"},
		{"held back", func(at time.Time) []*probes.Canary {
			c := goodCanary(at)
			c.Chunks, c.ITLSeconds = probes.Some(1.0), probes.Opt[float64]{}
			return []*probes.Canary{c}
		}, " canary TTFT 120 ms (server p50 1.1 s)  ITL –  8 tokens in 1 read  failed 0", warn, "8 tokens"},
		{"old", func(at time.Time) []*probes.Canary { return []*probes.Canary{goodCanary(at.Add(-40 * time.Second))} },
			" canary TTFT 120 ms (server p50 1.1 s)  ITL 20 ms  8 tokens in 8 reads  failed 0  40 s old", old, "8 tokens"},
		{"failed before", func(at time.Time) []*probes.Canary {
			c := goodCanary(at)
			c.Failed = probes.Some(3.0)
			return []*probes.Canary{c}
		}, " canary TTFT 120 ms (server p50 1.1 s)  ITL 20 ms  8 tokens in 8 reads  failed 3 of 12", warn, "failed"},
		{"failed", func(at time.Time) []*probes.Canary { return []*probes.Canary{bad(at)} },
			" canary failed 2 of 9: the server answered 503 [31mService", tone(99), ""},
		{"two engines", func(at time.Time) []*probes.Canary { return []*probes.Canary{goodCanary(at), bad(at)} },
			" canary of :9000 failed 2 of 9: the server answered 503 [31mService", tone(99), ""},
	}
	for _, c := range cases {
		f := canaryFrame(c.all)
		if c.name == "held back" {
			more := busy(history-1, 14)
			more["canary.buffered"] = 8
			f.Ticks[history-1].Signals = signals(more)
		}
		v := newView(f, 0, false)
		var text strings.Builder
		for _, r := range canaryRows(v, 100) {
			text.WriteString(strings.TrimRight(r.fit(100).text(), " "))
			for _, s := range r {
				if c.mark != "" && strings.HasPrefix(s.text, c.mark) && s.tone != c.tone {
					t.Errorf("%s: %q has tone %d, want %d", c.name, s.text, s.tone, c.tone)
				}
			}
		}
		if text.String() != c.want {
			t.Errorf("%s: got %q, want %q", c.name, text.String(), c.want)
		}
	}
}

// TestCanaryRowIsNarrowed: 80 columns hold the whole line whatever the numbers.
func TestCanaryRowIsNarrowed(t *testing.T) {
	for _, c := range []struct {
		second bool
		want   string
	}{
		{false, " canary TTFT 1.2 s (server 1.1 s)  ITL 1.4 ms  8 in 8 reads  failed 3 of 12"},
		{true, " canary of :9000 TTFT 2.0 s (server 1.1 s)  ITL 1.4 ms  8 in 8 reads  failed 0"},
	} {
		f := canaryFrame(func(at time.Time) []*probes.Canary {
			first, second := goodCanary(at), goodCanary(at)
			first.TTFTSeconds, first.ITLSeconds, first.Failed = probes.Some(1.23), probes.Some(0.00142), probes.Some(3.0)
			second.Endpoint, second.TTFTSeconds, second.ITLSeconds = "http://h:9000", probes.Some(2.0), probes.Some(0.00142)
			if c.second {
				return []*probes.Canary{first, second}
			}
			return []*probes.Canary{first}
		})
		row := canaryRows(newView(f, 0, false), 80)[0]
		if got := row.text(); got != c.want || row.width() > 80 {
			t.Errorf("got %q, %d cells; want %q", got, row.width(), c.want)
		}
	}
}
