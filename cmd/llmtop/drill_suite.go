package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/inject"
	"llmtop/cmd/llmtop/internal/drill/score"
)

// suite runs drills and has what they leave judged, each recording by a process that sees nothing
// else. Recordings are called by numbers.
type suite struct {
	dir    string // of the recordings
	keep   bool   // they stay there
	judges *judges
	fail   context.CancelCauseFunc
	runs   []*score.Run // in the order of the plan
	busy   sync.WaitGroup
	places chan struct{} // as many as may be judged or wait for it
	said   *counter
}

// runSuite runs all instances and returns what became of them: of each the recording with everything
// visible first, then those with sources left out. With features judges tell them so often.
func runSuite(ctx context.Context, all []drill.Instance, keep string, said *counter, features time.Duration) ([]score.Run, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &suite{dir: keep, keep: keep != "", fail: cancel, places: make(chan struct{}, 2*runtime.GOMAXPROCS(0)), said: said}
	if !s.keep {
		dir, err := os.MkdirTemp("", "llmtop-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		s.dir = dir
	}
	var err error
	if s.judges, err = startJudges(ctx, runtime.GOMAXPROCS(0), features); err != nil {
		return nil, err
	}
	defer s.judges.stop()
	err = s.run(ctx, all)
	s.busy.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause // what went wrong first: the rest follows from it
	}
	if err != nil {
		return nil, err
	}
	out := make([]score.Run, len(s.runs))
	for i, r := range s.runs {
		out[i] = *r
	}
	return out, nil
}

// run runs instances of one engine: many at once on the twin, one after the other on the real engine,
// which has this machine to itself.
func (s *suite) run(ctx context.Context, all []drill.Instance) error {
	if len(all) > 0 && all[0].Engine == "twin" {
		return drill.RunAll(ctx, all, s.dir, (*drill.Instance).Variants, func(t drill.Truth, recordings []drill.Recording) error { return s.take(ctx, t, recordings) })
	}
	for i, inst := range all {
		path := filepath.Join(s.dir, fmt.Sprintf("%d.llmrec", i+1))
		t, err := inject.RunCPU(ctx, inst, path)
		if err == nil {
			err = s.take(ctx, t, []drill.Recording{{Path: path}})
			s.busy.Wait() // nothing else runs while the next is measured
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take has the recordings of a run judged, in the background: those of one that does not count are
// not worth it.
func (s *suite) take(ctx context.Context, t drill.Truth, recordings []drill.Recording) error {
	s.said.one()
	if !t.Counts() {
		s.runs = append(s.runs, &score.Run{Truth: t})
		s.discard(recordings)
		return nil
	}
	for _, r := range recordings {
		run := &score.Run{Truth: t.Of(r), LeftOut: r.Missing}
		s.runs = append(s.runs, run)
		select {
		case s.places <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		s.busy.Go(func() {
			defer func() { <-s.places }()
			var err error
			if run.Judged, err = s.judges.judge(ctx, r.Path); err != nil {
				s.fail(err)
			}
			s.discard([]drill.Recording{r})
		})
	}
	return nil
}

func (s *suite) discard(recordings []drill.Recording) {
	for _, r := range recordings {
		if !s.keep && r.Path != "" {
			os.Remove(r.Path)
		}
	}
}
