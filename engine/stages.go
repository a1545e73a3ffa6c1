package engine

import "time"

// Stage is a link of the chain that every request passes, in order. Stages are
// consecutive: each begins at the instant where the one before ends.
type Stage int

// The stages, in order. Their names are part of the /debug/requests format.
const (
	StageReceive    Stage = iota // the handler starts, until the body is read
	StageParse                   // JSON and parameter checks
	StageAuth                    // credentials, and the model's name
	StageTokenize                // text to tokens
	StageAssemble                // tokens to a queued sequence: template, limits
	StageQueue                   // waiting for the scheduler
	StageBatch                   // chosen by the scheduler, until its first step runs
	StagePrefill                 // its first step, until its first token is sampled
	StageDecode                  // the first token, until the last one is sampled
	StageDetokenize              // the last token, until its text is ready
	StageSend                    // until the last byte is written
	NumStages
)

var stageNames = [NumStages]string{
	"receive", "parse", "auth", "tokenize", "assemble", "queue",
	"batch", "prefill", "decode", "detokenize", "send",
}

func (s Stage) String() string {
	if s < 0 || s >= NumStages {
		return "finished"
	}
	return stageNames[s]
}

// Timeline divides the time since a request arrived among the stages without
// gap or overlap, so that the stages sum to the end-to-end time exactly. It reads no
// clock: who stamps says when.
type Timeline struct {
	arrived, last time.Time
	stage         Stage // the one it is in; NumStages after the last
	spent         [NumStages]time.Duration
	entered       [NumStages]bool
}

// NewTimeline begins in the first stage.
func NewTimeline(arrived time.Time) Timeline {
	t := Timeline{arrived: arrived, last: arrived}
	t.entered[StageReceive] = true
	return t
}

// charge adds the time since the last instant to the stage it is in. An instant
// before the last one (two goroutines read the clock) counts as the last one. Instants
// count in whole microseconds since the arrival, so that the stages do, too, and still
// add up.
func (t *Timeline) charge(at time.Time) {
	elapsed, before := at.Sub(t.arrived).Round(time.Microsecond), t.Total()
	if t.stage < NumStages && elapsed > before {
		t.spent[t.stage] += elapsed - before
		t.last = t.arrived.Add(elapsed)
	}
}

// Finish ends stage s at the given instant; a stage that has ended already stays as it is.
func (t *Timeline) Finish(s Stage, at time.Time) {
	if s < t.stage || t.stage == NumStages {
		return
	}
	t.charge(at)
	t.enter(s + 1)
}

// Skip leaves the current stage for a later one: what lies between was never reached.
func (t *Timeline) Skip(to Stage, at time.Time) {
	if to <= t.stage {
		return
	}
	t.charge(at)
	t.enter(to)
}

func (t *Timeline) enter(s Stage) {
	t.stage = s
	if s < NumStages {
		t.entered[s] = true
	}
}

// at returns the timeline as it is at an instant: the current stage counts until then.
func (t Timeline) at(now time.Time) Timeline {
	t.charge(now)
	return t
}

// Total is the time covered; it equals the sum of the stages.
func (t *Timeline) Total() time.Duration { return t.last.Sub(t.arrived) }

// Stage is the stage it is in; NumStages after the last.
func (t *Timeline) Stage() Stage { return t.stage }

// Spent is the time charged to a stage so far.
func (t *Timeline) Spent(s Stage) time.Duration { return t.spent[s] }
