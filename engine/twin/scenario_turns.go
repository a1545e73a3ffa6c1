package twin

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmtop/engine/twin/knob"
)

// rampSteps is in how many steps a knob is turned that is turned over a time.
const rampSteps = 30

// turned is the statement at: a change, and how it goes on.
type turned struct {
	Event
	lasts time.Duration // then it goes back; 0: it stays
	every time.Duration // it comes again; 0: once
	over  time.Duration // it comes step by step; 0: at once
}

// end is when the last of its changes is made.
func (t *turned) end() time.Duration { return t.At + max(t.lasts, t.over) }

// ParseTurns reads the statement at without its first word, "60s for 30s kv_pool ×0.3", for a
// run of so many GPUs and replicas and that long.
func ParseTurns(texts []string, gpus, replicas int, length time.Duration) ([]Event, error) {
	p := &parser{Scenario: Scenario{GPUs: gpus, Replicas: replicas, Duration: length}}
	for _, text := range texts {
		if err := p.turn(text); err != nil {
			return nil, fmt.Errorf("at %.80q: %w", text, err)
		}
	}
	err := p.timeline()
	return p.Timeline, err
}

func (p *parser) turn(rest string) error {
	words := strings.Fields(rest)
	t := turned{Event: Event{Line: p.line}}
	if err := duration(&t.At, words[0], 0, 31*24*time.Hour); err != nil {
		return err
	}
	words = words[1:]
	for len(words) > 1 {
		to := map[string]*time.Duration{"for": &t.lasts, "every": &t.every, "over": &t.over}[words[0]]
		if to == nil {
			break
		}
		if *to != 0 {
			return fmt.Errorf("%s is there twice", words[0])
		}
		if err := duration(to, words[1], 100*time.Millisecond, 31*24*time.Hour); err != nil {
			return fmt.Errorf("%s: %w", words[0], err)
		}
		words = words[2:]
	}
	var err error
	if t.Change, err = knob.ParseChange(strings.Join(words, " ")); err != nil {
		return err
	}
	if len(p.turns) == maxEvents {
		return fmt.Errorf("more than %d changes", maxEvents)
	}
	p.turns = append(p.turns, t)
	return t.check()
}

// check says what of the statement cannot be, whatever the others say.
func (t *turned) check() error {
	k := &knob.Table[t.Change.Knob]
	switch {
	case k.Kind == knob.Moment && (t.lasts > 0 || t.over > 0):
		return fmt.Errorf("%s happens once: it takes neither for nor over", k.Name)
	case t.Change.Reset && t.lasts > 0:
		return errors.New("a reset for a while: write what it is to be instead")
	case k.Kind == knob.Switch && t.over > 0:
		return fmt.Errorf("%s is on or off: it cannot go over step by step", k.Name)
	case t.over > 0 && t.lasts > 0:
		return errors.New("over and for exclude each other: write a second line that goes back over a time")
	case t.every > 0 && t.over > 0:
		return errors.New("over and every exclude each other")
	case t.every > 0 && t.lasts == 0 && k.Kind != knob.Moment:
		return errors.New("every needs for: what is turned for good is turned once")
	case t.every > 0 && t.every <= t.lasts:
		return fmt.Errorf("for %s every %s: it would never be back", t.lasts, t.every)
	}
	return nil
}

// timeline makes events of the statements. The line is that of the one that is wrong.
func (p *parser) timeline() error {
	all, err := p.repeated()
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b turned) int { return cmp.Compare(a.At, b.At) })
	if err := p.contradiction(all); err != nil {
		return err
	}
	return p.play(all)
}

// repeated writes out what comes again and again, and holds each against the scenario.
func (p *parser) repeated() ([]turned, error) {
	var all []turned
	for _, t := range p.turns {
		p.line = t.Line
		if err := t.Change.Fits(p.GPUs, p.Replicas); err != nil {
			return nil, err
		}
		if t.At > p.Duration || (t.end() > p.Duration && t.every == 0) {
			return nil, fmt.Errorf("at %s%s: the run ends at %s", t.At, tail(&t), p.Duration)
		}
		for again := t; again.end() <= p.Duration; again.At += t.every {
			if all = append(all, again); len(all) > maxEvents {
				return nil, fmt.Errorf("more than %d changes in all", maxEvents)
			}
			if t.every == 0 {
				break
			}
		}
	}
	return all, nil
}

func tail(t *turned) string {
	switch {
	case t.lasts > 0:
		return " for " + t.lasts.String()
	case t.over > 0:
		return " over " + t.over.String()
	}
	return ""
}

// contradiction finds two changes of the same thing at once, or one of what is to go back or is
// on its way.
func (p *parser) contradiction(all []turned) error {
	last := map[knob.ID][]*turned{} // those that may still go on
	for i := range all {
		t := &all[i]
		open := last[t.Change.Knob][:0]
		for _, o := range last[t.Change.Knob] {
			if o.end() >= t.At {
				open = append(open, o)
			}
		}
		for _, o := range open {
			if a, b := o.Change.Target, t.Change.Target; a != b && a != knob.All && b != knob.All {
				continue
			}
			p.line = max(o.Line, t.Line)
			if o.end() == o.At {
				return fmt.Errorf("at %s: %s contradicts %s in line %d, at the same time", t.At, t.Change, o.Change, min(o.Line, t.Line))
			}
			return fmt.Errorf("at %s: %s contradicts %s%s in line %d, which goes on until %s", t.At, t.Change, o.Change, tail(o), min(o.Line, t.Line), o.end())
		}
		last[t.Change.Knob] = append(open, t)
	}
	return nil
}

// play turns the knobs of a board one after another, so that what goes back goes back to what
// was, and what is turned over a time begins there.
func (p *parser) play(all []turned) error {
	board := knob.NewBoard(p.GPUs, p.Replicas)
	var of [knob.NumKnobs][]turned
	for _, t := range all {
		of[t.Change.Knob] = append(of[t.Change.Knob], t)
	}
	p.Timeline = nil
	for _, turns := range of {
		if err := p.playOne(board, turns); err != nil {
			return err
		}
	}
	slices.SortStableFunc(p.Timeline, func(a, b Event) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Line, b.Line)) })
	return nil
}

// playOne plays the turns of one knob.
func (p *parser) playOne(board *knob.Board, turns []turned) error {
	var coming []Event // by time; what is turned at one time is of different targets
	apply := func(until time.Duration) error {
		for len(coming) > 0 && coming[0].At < until {
			p.Timeline = append(p.Timeline, coming[0])
			if err := board.Apply(coming[0].Change); err != nil {
				return err
			}
			coming = coming[1:]
		}
		return nil
	}
	for i := range turns {
		t := &turns[i]
		p.line = t.Line
		if err := apply(t.At); err != nil {
			return err
		}
		events, err := t.spread(board)
		if err != nil {
			return err
		}
		if coming = append(coming, events...); len(p.Timeline)+len(coming) > 4*maxEvents {
			return fmt.Errorf("more than %d changes in all", 4*maxEvents)
		}
		slices.SortStableFunc(coming, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	}
	return apply(math.MaxInt64)
}

// spread are the changes that a statement makes, from that at its time on.
func (t *turned) spread(board *knob.Board) ([]Event, error) {
	switch {
	case t.lasts > 0:
		return append([]Event{t.Event}, back(board, t)...), nil
	case t.over > 0:
		return t.ramp(board)
	}
	return []Event{t.Event}, nil
}

// back are the changes that undo one.
func back(board *knob.Board, t *turned) []Event {
	c := t.Change
	undo := func(target int, v float64) Event {
		def := knob.Table[c.Knob].Default
		reset := v == def || math.IsNaN(v)
		return Event{At: t.end(), Line: t.Line, Change: knob.Change{Knob: c.Knob, Target: target, Value: v, Reset: reset}}
	}
	if c.Target != knob.All {
		return []Event{undo(c.Target, board.At(c.Knob, c.Target))}
	}
	var each []Event
	same := true
	for i := range board.Len(c.Knob) {
		each = append(each, undo(i, board.At(c.Knob, i)))
		same = same && each[i].Change.Reset == each[0].Change.Reset && (each[i].Change.Reset || each[i].Change.Value == each[0].Change.Value)
	}
	if same {
		each[0].Change.Target = knob.All
		return each[:1]
	}
	return each
}

// ramp are the steps from what is to what is to be.
func (t *turned) ramp(board *knob.Board) ([]Event, error) {
	k, c := &knob.Table[t.Change.Knob], t.Change
	from, to := board.At(c.Knob, max(0, c.Target)), c.Value
	if c.Reset {
		to = k.Default
	}
	for i := range board.Len(c.Knob) {
		if v := board.At(c.Knob, i); c.Target == knob.All && v != from && !math.IsNaN(from) {
			return nil, fmt.Errorf("%s is not the same everywhere: turn each over its own time", k.Name)
		}
	}
	if math.IsNaN(from) || math.IsNaN(to) {
		return nil, fmt.Errorf("%s is the model's own before it is set: set it first, then turn it over a time", k.Name)
	}
	var events []Event
	for i := range rampSteps + 1 {
		e := t.Event
		e.At += t.over * time.Duration(i) / rampSteps
		if e.Change.Value = to; i < rampSteps {
			e.Change.Value, e.Change.Reset = between(from, to, float64(i)/rampSteps, k.Integer), false
		}
		events = append(events, e)
	}
	return events, nil
}

// between is a value on the way, of as many digits as people would write.
func between(from, to, part float64, whole bool) float64 {
	v := from + (to-from)*part
	if whole {
		return math.Round(v)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil || short < min(from, to) || short > max(from, to) {
		return v
	}
	return short
}
