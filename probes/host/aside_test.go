package host

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := aside[int]{patience: someWait}
		var reads atomic.Int32
		answers := make(chan int, 1)
		read := func() int { reads.Add(1); return <-answers }
		ask := func(wantReads int32, want int, wantOK bool) {
			t.Helper()
			if got, ok := a.every(10*time.Second, time.Now(), read); got != want || ok != wantOK || reads.Load() != wantReads {
				t.Errorf("got %d, %v after %d reads; want %d, %v after %d", got, ok, reads.Load(), want, wantOK, wantReads)
			}
		}
		answers <- 7
		ask(1, 7, true)
		<-time.After(9 * time.Second)
		ask(1, 7, true) // not due
		<-time.After(time.Second)
		ask(2, 7, true) // it is out, not yet for long
		<-time.After(3 * time.Second)
		ask(2, 7, false)
		<-time.After(time.Hour)
		ask(2, 7, false) // never a second one
		answers <- 8
		synctest.Wait()
		answers <- 9
		ask(3, 9, true) // what came an hour late is old: read anew
		if a.hangs() {
			t.Error("it hangs")
		}
	})
}
