package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/panes"
	"llmtop/rules"
)

// TestReplayKeepsPace: at every speed as much is played as time passes, whatever drawing costs.
func TestReplayKeepsPace(t *testing.T) {
	for _, speed := range []float64{0.25, 1, 16, 64} {
		synctest.Test(t, func(t *testing.T) {
			line := &slowLine{history: verdicts(make([]rules.State, 1000)...), draw: 40 * time.Millisecond}
			v := newViewer(line, panes.Frame{}, false)
			v.app = panes.NewApp(nil, v)
			v.running, v.pace.speed = true, speed
			playFor(t, v, 12*time.Second+100*time.Millisecond)
			if want := int(12 * speed); v.at < want-int(speed/10)-1 || v.at > want+int(speed/5)+1 {
				t.Errorf("×%g: at %d after 12 s, want %d", speed, v.at, want)
			}
			if strings.Contains(v.said, "cannot") {
				t.Errorf("×%g: %s", speed, v.said)
			}
		})
	}
}

// TestReplaySaysThatItIsSlow: what cannot be kept is said, with what is.
func TestReplaySaysThatItIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := &slowLine{history: verdicts(make([]rules.State, 1000)...), work: 50 * time.Millisecond}
		v := newViewer(line, panes.Frame{}, false)
		v.app = panes.NewApp(nil, v)
		v.running, v.pace.speed = true, 64
		playFor(t, v, 20*time.Second)
		if !strings.Contains(v.said, "cannot keep ×64") || !strings.Contains(v.said, "×20") {
			t.Errorf("says %q", v.said)
		}
		if v.at < 300 || v.at > 480 {
			t.Errorf("at %d after 20 s of 20 samples/s", v.at)
		}
	})
}

// playFor lets a replay run for a time, of the bubble's clock.
func playFor(t *testing.T, v *viewer, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	v.run(ctx, nil)
}

// slowLine is a timeline that takes time to work out and to draw.
type slowLine struct {
	*history
	work, draw time.Duration
	reached    int
}

func (s *slowLine) reach(i int) (int, error) {
	for n := 0; s.reached < i; n++ {
		if n == slice {
			return s.reached, nil
		}
		time.Sleep(s.work)
		s.reached++
	}
	return i, nil
}

func (s *slowLine) upTo(i int) ([]*rules.Tick, error) {
	time.Sleep(s.draw)
	return s.history.upTo(i)
}
