package twin

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
)

// TestAgenda: events come in order of time, those of one moment as they were made.
func TestAgenda(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var a agenda
	var got, want []event
	for len(got) < 5000 {
		if len(a.heap) == 0 || len(want) < 5000 && r.IntN(5) < 3 {
			after := time.Duration(0)
			if len(got) > 0 {
				after = got[len(got)-1].at
			}
			a.add(after+time.Duration(r.IntN(50)), kind(r.IntN(3)), 1, 1)
			want = append(want, event{})
			continue
		}
		got = append(got, a.next())
	}
	if !slices.IsSortedFunc(got, func(x, y event) int {
		if x.before(&y) {
			return -1
		}
		return 1
	}) {
		t.Error("out of order")
	}
}

// TestPauses: they take their share of a long time, and of a short one what overlaps.
func TestPauses(t *testing.T) {
	for _, share := range []float64{0.01, 0.3, 0.95} {
		p := pauses{seed: 7}
		p.set(share, 3*time.Second)
		const work = 1000 * time.Second
		over := p.extend(5*time.Second, work)
		took := over - 5*time.Second
		if got := 1 - work.Seconds()/took.Seconds(); math.Abs(got-share) > 0.01 {
			t.Errorf("%.3f of the time is lost, want %.2f", got, share)
		}
		if lost := p.stopped(5*time.Second, over); (lost - (took - work)).Abs() > time.Microsecond {
			t.Errorf("%s stopped, %s late", lost, took-work)
		}
		at := 5 * time.Second
		for range 10_000 { // in small pieces it is the same
			at = p.extend(at, work/10_000)
		}
		if (at - over).Abs() > pauseLength {
			t.Errorf("over at %s in pieces, at %s in one", at, over)
		}
	}
	if none := new(pauses); none.extend(1, 2) != 3 || none.stopped(0, time.Hour) != 0 {
		t.Error("no pauses pause")
	}
}

// TestWaitingJobsMeetTheNewSpeed: when the tokenizer gets well again, what has queued up is
// through soon.
func TestWaitingJobsMeetTheNewSpeed(t *testing.T) {
	sc := plain()
	slow := knob.Change{Knob: knob.Tokenizer, Target: knob.All, Value: 1000}
	sc.Timeline = []Event{{At: 0, Change: slow}, {At: 30 * time.Second, Change: knob.Change{Knob: knob.Tokenizer, Target: knob.All, Reset: true}}}
	s := begin(t, sc, func(p *Parts) { p.Source = poisson(3, 10, 1<<40, chat) })
	front := func(at time.Duration) int {
		if err := s.Advance(at); err != nil {
			t.Fatal(err)
		}
		return s.State(0).Front
	}
	if n := front(29 * time.Second); n < 200 {
		t.Errorf("%d wait", n)
	}
	if n := front(33 * time.Second); n > 3 {
		t.Errorf("%d still wait", n)
	}
}

// TestContents: the same prefix has the same tokens whatever follows, and an answer that
// goes on with it has those that a later turn begins with.
func TestContents(t *testing.T) {
	long := []workload.Segment{{ID: 4, Tokens: 30}, {ID: 9, Tokens: 50}}
	short := []workload.Segment{{ID: 4, Tokens: 30}, {ID: 9, Tokens: 20}}
	a, b := stream(1), stream(2)
	one, two := appendPrompt(nil, 100, long, &a), appendPrompt(nil, 60, short, &b)
	if len(one) != 100 || len(two) != 60 || !slices.Equal(one[:50], two[:50]) || slices.Equal(one[50:60], two[50:60]) {
		t.Error("prompts that begin alike do not have the same tokens, or others do")
	}
	answer := segment(9).after(20)
	for i := 50; i < 80; i++ {
		if got := answer.token(); got != one[i] {
			t.Fatalf("token %d of the answer is %d, the later turn has %d", i-50, got, one[i])
		}
	}
}
