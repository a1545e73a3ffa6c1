package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"llmtop/panes"
	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

// hiddenState is what the screen shows in place of the verdict's state.
const hiddenState rules.State = "hidden"

// showHidden shows a game's recording on the live screen, in real time from the game's beginning, and
// returns how long after the onset the engineer left it; negative when that was before.
func showHidden(ctx context.Context, g *game) (time.Duration, error) {
	reader, err := openRecording(g.path)
	if err != nil {
		return 0, err
	}
	defer reader.Close()
	source := &paced{reader: reader, begin: g.begin}
	s, err := newSession(source)
	if err != nil {
		return 0, failed(err, "")
	}
	s.show = hideVerdict(reader.Info().End)
	begun := time.Now()
	err = showLive(ctx, s, panes.Frame{Title: "drill", Waiting: "a drill begins", Look: panes.LookOf(os.Getenv)})
	if err == nil {
		err = ctx.Err()
	}
	return g.begin.Add(time.Since(begun)).Sub(g.truth.Onset), err
}

// paced is a recording as a live source: what lies before begin at once, from there on each sample
// when as much time has passed as in the recording.
type paced struct {
	reader *record.Reader
	begin  time.Time
	begun  time.Time // when the sample at begin was due
}

func (p *paced) Next(ctx context.Context) (*probes.Sample, error) {
	sample, err := p.reader.Next(ctx)
	if err != nil || !sample.At.After(p.begin) {
		return sample, err
	}
	if p.begun.IsZero() {
		p.begun = time.Now()
	}
	timer := time.NewTimer(time.Until(p.begun.Add(sample.At.Sub(p.begin))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return sample, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hideVerdict takes out of a tick what is to be found out: the state, where the added time went, causes,
// risks and notes. A screen that does not have them cannot show them, nor find where they changed.
// What users feel stays, as a pager would tell it. The tick itself is not changed.
func hideVerdict(end time.Time) func(*rules.Tick) *rules.Tick {
	return func(t *rules.Tick) *rules.Tick {
		hidden := *t
		d := &t.Diagnosis
		reason := "what is wrong?: the verdict is hidden, this is a drill. q ends the screen; then name the cause."
		if !t.Point.At.Before(end) {
			reason = "the drill is over, q: it goes no further than this. Then name the cause."
		}
		hidden.Diagnosis = rules.Diagnosis{Time: d.Time, State: hiddenState, Reason: reason, Baseline: d.Baseline, Symptoms: d.Symptoms}
		return &hidden
	}
}

// afterOnset prints a time from the onset on: "+7 s".
func afterOnset(d time.Duration) string { return fmt.Sprintf("%+.0f s", d.Seconds()) }
