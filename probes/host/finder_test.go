package host

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestFinderFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, looked := 0, 0
		f := NewFinder("127.0.0.1:8000")
		f.live = func(pid int) bool { return pid == listener }
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
		}{
			{"nobody yet", 0, 0, 0, 1},
			{"not looked again at once", time.Second, 5, 0, 1},
			{"found", lookEvery, 5, 5, 2},
			{"remembered", time.Hour, 5, 5, 2},
			{"it ended", 0, 0, 0, 3},
			{"another took its place", lookEvery, 6, 6, 4},
		}
		for _, s := range steps {
			<-time.After(s.wait)
			listener = s.listener
			if got := f.PID(); got != s.want || looked != s.lookups {
				t.Errorf("%s: got %d after %d lookups, want %d after %d", s.name, got, looked, s.want, s.lookups)
			}
			if (f.Err() == nil) != (s.want > 0) && s.lookups != 1 {
				t.Errorf("%s: error %v", s.name, f.Err())
			}
		}
	})
}
