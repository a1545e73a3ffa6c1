package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// What the scheduler and the block manager decide does not change when they are made
// faster: every item, admission, preemption, table and count of long runs, and the
// order of the free blocks, as hashes that were written by an earlier version.
func TestDecisionsStay(t *testing.T) {
	var got bytes.Buffer
	for _, s := range decisionScenes() {
		d := newDecisions(t, s, 1)
		for range 3000 {
			d.round(t)
		}
		fmt.Fprintln(&got, d.summary())
	}
	const path = "testdata/decisions.golden"
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("decisions differ from %s:\n%s\nwant\n%s", path, got.Bytes(), want)
	}
}

type decisionScene struct {
	policy                    Policy
	cache                     bool
	drafts, blocks, blockSize int
	classes                   int
}

func decisionScenes() (scenes []decisionScene) {
	for _, cache := range []bool{true, false} {
		for _, policy := range []Policy{Continuous, Dynamic, Static} {
			for _, blocks := range []int{30, 90, 400} {
				for _, classes := range []int{1, NumClasses} {
					drafts, size := 3*(blocks/90%2), 4
					if blocks == 400 {
						size = 3
					}
					scenes = append(scenes, decisionScene{policy, cache, drafts, blocks, size, classes})
				}
			}
		}
	}
	return scenes
}

// decisions drives a scheduler with everything that can happen to one and takes down what it decides.
type decisions struct {
	*Scheduler
	scene       decisionScene
	rng         *rand.Rand
	trace       tracer
	live        []*Sequence
	ids         map[*Sequence]int
	now         time.Time
	entered     int
	preemptions int
}

func newDecisions(t fataler, s decisionScene, seed uint64) *decisions {
	t.Helper()
	limits := Limits{
		MaxNumSeqs: 12, MaxBatchedTokens: 48, LongPrefillTokenThreshold: 20, Drafts: s.drafts,
		Headroom: 0.05, MinShare: 0.15, Policy: s.policy, BatchWait: 5,
	}
	scheduler, err := NewScheduler(limits, NewBlockManager(s.blocks, s.blockSize, s.cache))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &decisions{
		Scheduler: scheduler, scene: s, rng: rand.New(rand.NewPCG(seed, uint64(s.blocks+s.drafts))),
		trace: tracer{hash: fnv.New64a()}, ids: map[*Sequence]int{}, now: time.Unix(1, 0),
	}
}

// round adds, cancels or throws away something now and then, and makes a step.
func (d *decisions) round(t fataler) {
	t.Helper()
	d.now = d.now.Add(time.Duration(d.rng.IntN(3)))
	for len(d.live) < 30 && d.rng.IntN(3) > 0 {
		d.enter(t)
	}
	if len(d.live) > 0 && d.rng.IntN(8) == 0 {
		q := d.live[d.rng.IntN(len(d.live))]
		if d.rng.IntN(3) > 0 {
			d.Discard(q)
		} else {
			d.Finish(q)
		}
	}
	d.step()
	d.sweep()
}

func (d *decisions) enter(t fataler) {
	t.Helper()
	q := &Sequence{MaxTokens: 1 + d.rng.IntN(40), Arrived: d.now}
	q.Class = Realtime + Class(d.rng.IntN(d.scene.classes))
	q.Salt = []string{"", "", "", "a", "b"}[d.rng.IntN(5)]
	kind, shared := d.rng.IntN(3), d.rng.IntN(60) // of the prompt's tokens so many are those of its kind
	for i := range 1 + d.rng.IntN(60) {
		token := kind*1000 + i
		if i >= shared {
			token = 10_000 + d.rng.IntN(2) // collides often enough, so that blocks are held twice
		}
		q.Prompt = append(q.Prompt, token)
	}
	if err := d.Add(q); err != nil {
		t.Fatalf("add: %v", err)
	}
	d.ids[q] = d.entered
	d.entered++
	d.live = append(d.live, q)
}

// step makes a step of which now and then nothing is computed, and takes it down.
func (d *decisions) step() {
	s := d.Schedule(d.now)
	d.trace.ints(len(s.Items), s.Tokens, int(s.Wait))
	for _, i := range s.Items {
		d.trace.ints(d.ids[i.Seq], i.Start, i.Tokens, i.Drafts, len(i.Seq.blocks))
		d.trace.ints(i.Seq.blocks...)
	}
	for _, list := range [][]*Sequence{s.Admitted, s.Preempted} {
		d.trace.ints(len(list))
		for _, q := range list {
			d.trace.ints(d.ids[q], q.Cached, q.Preemptions)
		}
	}
	d.preemptions += len(s.Preempted)
	if d.rng.IntN(50) > 0 {
		d.compute(s)
	}
	d.takeStats()
}

func (d *decisions) compute(s Step) {
	for _, i := range s.Items {
		held := 0
		if i.Drafts > 0 {
			held = d.rng.IntN(i.Drafts + 1)
		}
		samples := i.Samples()
		d.Computed(i, held)
		for range held + 1 {
			if samples && len(i.Seq.Output) < i.Seq.MaxTokens {
				i.Seq.Output = append(i.Seq.Output, 20_000+d.rng.IntN(2))
			}
		}
		if len(i.Seq.Output) == i.Seq.MaxTokens {
			d.Finish(i.Seq)
		}
	}
}

func (d *decisions) takeStats() {
	s := d.Stats()
	d.trace.ints(s.Used, s.Cached, s.Free, int(s.PrefixQueries), int(s.PrefixHits), int(s.PreemptedTokens), int(s.RecomputedTokens))
	d.trace.ints(s.Waiting[:]...)
	d.trace.ints(s.Running[:]...)
	if d.rng.IntN(20) == 0 {
		d.trace.ints(freeOrder(d.blocks)...)
	}
}

// sweep forgets the sequences that have ended.
func (d *decisions) sweep() {
	live := d.live[:0]
	for _, q := range d.live {
		if q.Finished() {
			delete(d.ids, q)
			continue
		}
		live = append(live, q)
	}
	d.live = live
}

func (d *decisions) summary() string {
	s := d.Stats()
	return fmt.Sprintf("%s cache=%t classes=%d blocks=%dx%d drafts=%d: %d preemptions, %d of %d tokens found, %d computed again, %016x",
		d.scene.policy, d.scene.cache, d.scene.classes, d.scene.blocks, d.scene.blockSize, d.scene.drafts,
		d.preemptions, s.PrefixHits, s.PrefixQueries, s.RecomputedTokens, d.trace.hash.Sum64())
}

// tracer hashes numbers.
type tracer struct {
	hash hash.Hash64
	buf  []byte
}

func (t *tracer) ints(list ...int) {
	t.buf = t.buf[:0]
	for _, n := range list {
		t.buf = binary.LittleEndian.AppendUint64(t.buf, uint64(n))
	}
	t.hash.Write(t.buf)
}
