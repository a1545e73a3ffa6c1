package host

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestFinderFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, life, looked := 0, 0, 0
		f := NewFinder("127.0.0.1:8000")
		f.meet = func(pid int) func() bool {
			met := life
			return func() bool { return pid == listener && life == met }
		}
		f.find = func(string) (int, error) {
			looked++
			if listener == 0 {
				return 0, errors.New("nobody")
			}
			return listener, nil
		}
		steps := []struct {
			name          string
			wait          time.Duration
			listener      int
			want, lookups int
			lives         int // since the last step
		}{
			{"nobody yet", 0, 0, 0, 1, 0},
			{"not looked again at once", time.Second, 5, 0, 1, 0},
			{"found", lookEvery, 5, 5, 2, 0},
			{"remembered", time.Hour, 5, 5, 2, 0},
			{"it ended", 0, 0, 0, 3, 0},
			{"another took its place", lookEvery, 6, 6, 4, 0},
			{"its number was given to another process: who listens is looked for", lookEvery, 6, 6, 5, 1},
		}
		for _, s := range steps {
			<-time.After(s.wait)
			listener, life = s.listener, life+s.lives
			if got := f.PID(); got != s.want || looked != s.lookups {
				t.Errorf("%s: got %d after %d lookups, want %d after %d", s.name, got, looked, s.want, s.lookups)
			}
			if (f.Err() == nil) != (s.want > 0) && s.lookups != 1 {
				t.Errorf("%s: error %v", s.name, f.Err())
			}
		}
	})
}
