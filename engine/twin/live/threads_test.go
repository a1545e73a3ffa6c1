package live

import (
	"testing"
	"testing/synctest"
	"time"
)

// What has queued for slow threads is done as fast as all else once they are fast again, and
// as slowly once they are slow.
func TestThreadsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &front{done: make(chan struct{})}
		f.tokenizers.resize(1)
		f.tokenizers.pace(time.Now(), time.Second)
		began, ended := time.Now(), make(chan time.Duration)
		for range 100 {
			go func() {
				f.wait(&f.tokenizers, time.Second)
				ended <- time.Since(began)
			}()
		}
		var last time.Duration
		for range 10 {
			last = <-ended
		}
		if last != 10*time.Second {
			t.Errorf("10 of 1 s took %s", last)
		}
		f.tokenizers.pace(time.Now(), 10*time.Millisecond) // 90 are left
		for range 40 {
			last = <-ended
		}
		if last != 10*time.Second+400*time.Millisecond {
			t.Errorf("40 more of 10 ms were done after %s", last)
		}
		f.tokenizers.pace(time.Now(), 20*time.Millisecond)
		f.wait(&f.tokenizers, 20*time.Millisecond) // behind all others
		if took := time.Since(began); took != 11400*time.Millisecond+20*time.Millisecond {
			t.Errorf("the last was done after %s", took)
		}
		for range 50 {
			<-ended
		}
		f.tokenizers.pace(time.Now(), 0)
		began = time.Now()
		f.wait(&f.tokenizers, 0)
		if time.Since(began) != 0 {
			t.Error("nothing takes time")
		}
	})
}

// A small change, as cores make from moment to moment, wakes nobody.
func TestThreadsDrift(t *testing.T) {
	var th threads
	th.resize(1)
	now := time.Now()
	th.pace(now, time.Second)
	end, next := th.give(now, time.Second)
	for range 3 {
		th.pace(now, 1050*time.Millisecond)
	}
	if th.turn != next {
		t.Error("a change of 5 % is a turn")
	}
	th.pace(now, 1150*time.Millisecond)
	if th.turn == next || !next.after(end).Equal(now.Add(1150*time.Millisecond)) {
		t.Errorf("after a change of 15 %% it is done %s later", next.after(end).Sub(now))
	}
}
