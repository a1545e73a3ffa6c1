package drill

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"llmtop/engine/twin"
	"llmtop/probes"
	"llmtop/rules"
)

// Kinds are all there are.
var Kinds = []Kind{Fault, Limit, Note, Compound, Outside, Healthy}

// harmful tells drills whose main symptom must lie in a band.
func (d *Drill) harmful() bool { return d.Kind != Note && d.Kind != Healthy }

// checker gathers what is wrong with a drill.
type checker struct {
	*source
	errs []error
}

func (c *checker) wrong(where, format string, args ...any) {
	c.errs = append(c.errs, c.bad(strings.Split(where, "."), format, args...))
}

// one holds a word against those that there are.
func (c *checker) one(where, what, word string, of []string) {
	if !slices.Contains(of, word) {
		c.wrong(where, "%v", unknown(what, word, of))
	}
}

func (d *Drill) check(s *source) error {
	c := &checker{source: s}
	for part := range strings.SplitSeq(d.ID, "_") {
		if !isWord(part) {
			c.wrong("story", "a drill's file is called by the id of its cause, or that and _ and a word: not %.60q", d.ID)
			break
		}
	}
	if strings.TrimSpace(d.Story) == "" || strings.Contains(d.Story, "\n") {
		c.wrong("story", "story: a line that says what happens")
	}
	kinds := make([]string, len(Kinds))
	for i, k := range Kinds {
		kinds[i] = string(k)
	}
	c.one("kind", "kind", string(d.Kind), kinds)
	d.checkIDs(c)
	if d.Symptom != "" || d.harmful() {
		c.one("symptom", "symptom", d.Symptom, Symptoms)
	}
	for i, source := range d.SeenBy {
		c.one(fmt.Sprintf("seen_by.%d", i), "source", source, twin.Sections)
	}
	if d.Stage != "" {
		c.one("stage", "stage", d.Stage, probes.StageNames[:])
	}
	switch {
	case d.Twin == nil && d.CPU == nil:
		c.wrong("story", "neither twin nor cpu: it cannot be run")
	case d.Kind == Healthy && d.Twin != nil && d.Twin.Dial != nil:
		c.wrong("twin.dial", "a control has no dial: nothing is wrong with it")
	}
	if d.Twin != nil {
		d.Twin.check(c, d.Kind)
	}
	if d.CPU != nil {
		if d.CPU.Symptom != "" {
			c.one("cpu.symptom", "symptom", d.CPU.Symptom, Symptoms)
		}
		d.CPU.check(c)
	}
	return errors.Join(c.errs...)
}

// checkIDs holds the causes against those that there are, and against the kind.
func (d *Drill) checkIDs(c *checker) {
	ids, err := known()
	if err != nil {
		c.wrong("story", "%v", err)
		return
	}
	for _, list := range []struct {
		where string
		ids   []string
	}{{"expects", d.Expects}, {"effects", d.Effects}, {"allows", d.Allows}} {
		for i, id := range list.ids {
			c.one(fmt.Sprintf("%s.%d", list.where, i), "cause", id, ids)
		}
	}
	switch d.Kind {
	case Compound:
		if len(d.Expects) == 0 {
			c.wrong("kind", "expects: which of the two is the root?")
		}
	case Outside, Healthy:
		if len(d.Expects) > 0 {
			c.wrong("expects", "a drill of kind %s expects no cause", d.Kind)
		}
	}
	if len(d.Allows) > 0 && d.Kind != Healthy {
		c.wrong("allows", "only a control allows causes; those of a fault are its effects")
	}
}

// maxLasts bounds a fault, and maxControl a control.
const (
	maxLasts   = 20 * time.Minute
	maxControl = 24 * time.Hour
)

func (t *OnTwin) check(c *checker, kind Kind) {
	if t.Skip != "" {
		return
	}
	checkDial(c, "twin", t.Dial, slices.Concat(t.Turns, t.Lines, []string{t.Workload}))
	checkConfirm(c, "twin", t.Confirm)
	most := maxLasts
	if kind == Healthy {
		most = maxControl
	}
	if l := time.Duration(t.Lasts); l > most || l > 0 && l < 10*time.Second {
		c.wrong("twin.lasts", "lasts is 10s to %s, not %s", most, l)
	}
	if t.Load < 0 || t.Load > 2 {
		c.wrong("twin.load", "load is a share of what can be served, above 0 and at most 2, not %g", t.Load)
	}
	if len(t.Turns) == 0 && kind != Healthy {
		c.wrong("twin.turns", "no turns: nothing happens")
	}
	for _, s := range t.Dial.Severities() {
		for i, turn := range t.Turns {
			if err := checkTurn(filled(turn, t.Dial, t.Dial.Start(s))); err != nil {
				c.wrong(fmt.Sprintf("twin.turns.%d", i), "%q: %v", turn, err)
			}
		}
	}
	t.checkWorlds(c)
}

// checkTurn holds a turn against the knobs, on a host that has any number of GPUs.
func checkTurn(text string) error {
	at, rest, err := splitTurn(text)
	if err != nil {
		return err
	}
	_, err = twin.ParseTurns([]string{fmt.Sprintf("%s %s", at, rest)}, 64, 64, maxControl+time.Hour)
	return err
}

// checkWorlds says which tags and worlds nobody has.
func (t *OnTwin) checkWorlds(c *checker) {
	worlds, err := Worlds()
	if err != nil {
		c.wrong("twin", "%v", err)
		return
	}
	var names, tags []string
	for _, w := range worlds {
		names = append(names, w.Name)
		tags = append(tags, w.personality())
		tags = append(tags, w.Tags...)
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	before := len(c.errs)
	for i, w := range t.Worlds {
		c.one(fmt.Sprintf("twin.worlds.%d", i), "world", w, names)
	}
	for i, tag := range t.Needs {
		c.one(fmt.Sprintf("twin.needs.%d", i), "tag of worlds", tag, tags)
	}
	if len(c.errs) == before && !slices.ContainsFunc(worlds, t.fits) {
		c.wrong("twin.needs", "no world is all that")
	}
}

func (o *OnCPU) check(c *checker) {
	if o.Skip != "" {
		return
	}
	if o.Inject == "" {
		c.wrong("cpu", "inject: what happens?")
	}
	var texts []string
	for _, v := range o.With {
		texts = append(texts, v)
	}
	checkDial(c, "cpu", o.Dial, slices.Concat(texts, o.Serve, o.Load))
	checkConfirm(c, "cpu", o.Confirm)
	if l := time.Duration(o.Lasts); l > maxLasts {
		c.wrong("cpu.lasts", "lasts is at most %s, not %s", maxLasts, l)
	}
}

// checkDial wants strengths that rise along the dial, and a place that they go to.
func checkDial(c *checker, where string, d *Dial, texts []string) {
	placed := slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, placeholder) })
	switch {
	case d == nil && placed:
		c.wrong(where, "%s without a dial", placeholder)
		return
	case d == nil:
		return
	case len(d.Severities()) == 0:
		c.wrong(where+".dial", "a dial names mild, medium or severe")
	case d.Fixed:
		return
	case !placed:
		c.wrong(where+".dial", "no %s: nothing is turned by the dial; is it fixed?", placeholder)
	case d.From == d.To:
		c.wrong(where+".dial", "from and to are the same; is it fixed?")
	default:
		last := 0.0
		for i, s := range d.Severities() {
			at := d.place(d.Start(s))
			switch {
			case at < 0 || at > 1:
				c.wrong(where+".dial", "%s: %g does not lie between from %g and to %g", s, d.Start(s), d.From, d.To)
			case i > 0 && at <= last:
				c.wrong(where+".dial", "%s is not stronger than what stands before it", s)
			}
			last = at
		}
	}
}

func checkConfirm(c *checker, where string, all []Confirm) {
	var names []string
	for _, s := range rules.Table() {
		names = append(names, s.Name)
	}
	for i, f := range all {
		at := fmt.Sprintf("%s.confirm.%d", where, i)
		c.one(at, "signal", f.Signal, names)
		if f.Rises == 0 && f.Falls == 0 && f.Least == 0 && f.Most == 0 {
			c.wrong(at, "%s: rises, falls, least or most?", f.Signal)
		}
		if f.Rises < 0 || f.Falls < 0 {
			c.wrong(at, "%s: rises and falls are factors above 0", f.Signal)
		}
	}
}
