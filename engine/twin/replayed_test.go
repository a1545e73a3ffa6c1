package twin

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"llmtop/engine/twin/workload"
)

// A trace begins with the run, not with the engines that were warm by then; what is recorded of its
// replay are the same requests at the same times, with about as many of their tokens in the cache.
func TestReplayOfARun(t *testing.T) {
	for _, kind := range []string{"chat", "rag", "agent"} {
		t.Run(kind, func(t *testing.T) {
			text := "gpu h100\nmodel llama-3-8b\nduration 2m\n"
			first := recorded(t, text+"workload "+kind+" rate=4\n", nil)
			again := recorded(t, text+"rate 1", &workload.Trace{Rows: first})
			if len(first) < 300 || len(again) < len(first)-8 { // the last ones are still in flight
				t.Fatalf("%d requests, %d of them again", len(first), len(again))
			}
			at := map[[2]int32]time.Duration{}
			found, foundAgain := 0, 0
			for _, r := range first {
				at[[2]int32{r.Prompt, r.Output}] = r.At
				found += int(r.PrefixTokens)
			}
			late := 0
			for _, r := range again {
				was, ok := at[[2]int32{r.Prompt, r.Output}]
				if !ok {
					t.Fatalf("%+v was not in the trace", r)
				}
				if d := r.At - was; d < -time.Millisecond || d > time.Millisecond {
					late++ // one with the lengths of another
				}
				foundAgain += int(r.PrefixTokens)
			}
			if late > len(again)/20 {
				t.Errorf("%d of %d came at another time", late, len(again))
			}
			if r := float64(foundAgain) / float64(found); r < 0.85 || r > 1.05 {
				t.Errorf("%d tokens were in the cache, %d in the replay", found, foundAgain)
			}
		})
	}
}

// recorded are the requests of a run of a scenario, or of a trace in place of its workload.
func recorded(t *testing.T, text string, trace *workload.Trace) []workload.Row {
	t.Helper()
	sc, err := parseText(text)
	if err != nil {
		t.Fatal(err)
	}
	if trace != nil {
		sc.Workload.Trace, sc.Workload.Rate = trace, 0
	}
	rec := Recorded{From: sc.Start, To: sc.Start.Add(sc.Duration)}
	for _, s := range samplesOf(t, runOf(t, sc, sc.Duration)) {
		if err := rec.Add(s.Requests); err != nil {
			t.Fatal(err)
		}
	}
	return rec.Rows()
}

// What comes again and again comes until the end of a run that is made longer, and no bound is got round.
func TestLasting(t *testing.T) {
	sc, err := parseText(small + "duration 1m\nat 10s for 5s every 20s rate ×2\n")
	if err != nil {
		t.Fatal(err)
	}
	for length, events := range map[time.Duration]int{30 * time.Second: 4, time.Minute: 4, 2 * time.Minute: 12} {
		got, err := sc.Lasting(length)
		if err != nil || got.Duration != length || len(got.Timeline) < events {
			t.Errorf("%s: %d events, %v", length, len(got.Timeline), err)
		}
		if n := len(got.Timeline); n > 0 && length > time.Minute && got.Timeline[n-1].At < length-20*time.Second {
			t.Errorf("%s: the last change is at %s", length, got.Timeline[n-1].At)
		}
	}
	sc.Interval = time.Minute
	for _, length := range []time.Duration{-time.Second, 0, time.Millisecond, 30 * time.Second, 1000 * time.Hour} {
		if _, err := sc.Lasting(length); err == nil {
			t.Errorf("%s was accepted", length)
		}
	}
}

// The summary tells of every request that came to an end, of those too that have no record.
func TestSummaryLosesNothing(t *testing.T) {
	sc, err := parseText(small + "workload rag rate=400 output=40\nduration 30s\nat 20s restart\n")
	if err != nil {
		t.Fatal(err)
	}
	r := runOf(t, sc, sc.Duration)
	samplesOf(t, r)
	c := r.Tally()
	lost := c.Failed - r.since.Failed
	if lost == 0 || c.Refused == 0 {
		t.Fatalf("nothing has failed: %+v", c)
	}
	got := r.Summary()
	var done, failed, rejected uint64
	if _, err := fmt.Sscanf(got, "requests %d done, %d failed, %d rejected", &done, &failed, &rejected); err != nil {
		t.Fatalf("%v in %q", err, got)
	}
	if done != c.Finished-r.since.Finished || failed != lost || rejected != c.Rejected-r.since.Rejected {
		t.Errorf("got %s of %+v since %+v", got, c, r.since)
	}
}

// Nobody waits for engines to become warm who has gone.
func TestRunIsCancelled(t *testing.T) {
	sc, err := parseText(small + "warm 1h\n")
	if err != nil {
		t.Fatal(err)
	}
	r := runOf(t, sc, time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if s, err := r.Next(ctx); s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", s, err)
	}
	if r.Tally().Arrived != 0 {
		t.Errorf("it went on: %+v", r.Tally())
	}
}
