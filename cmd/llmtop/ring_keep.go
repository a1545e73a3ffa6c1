package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

// longest is how many times --post a file goes on at most, however often it is triggered.
const longest = 12

// incidents keeps the past in a ring, and writes a file when something happens: what
// was before, and --post of what comes after the last thing that happened. Time is
// the samples' own. It is safe for concurrent use, and waits for no disk but in close.
//
// A rule that fires soon after a file ended waits until half of the ring's time has passed,
// so that a verdict that comes and goes does not make a file each time; the ring still
// holds the moment then. Keys and signals do not wait.
type incidents struct {
	ring *record.Ring
	o    ringOptions
	log  func(format string, a ...any) // nil: nobody reads it

	mu     sync.Mutex
	at     time.Time     // of the newest sample
	now    time.Duration // the same since the collection began
	cause  string        // named last; "" since the verdict is healthy
	dump   *record.Dump  // the file being written; nil: none
	why    trigger       // what it was begun for
	marked trigger       // the last one that it goes on for
	began  time.Duration // when it was
	until  time.Duration // when it ends
	quiet  time.Duration // no file for a rule before
	waits  *trigger      // what fired before then, or could not be kept
	ending []ended
	kept   []string // a line about each file that is closed
	failed error    // why the last file was not written whole; nil once one is, or could be
	said   string   // about failed
	ahead  lookout
}

// trigger is why a file is written.
type trigger struct {
	at    time.Time
	now   time.Duration // the same since the collection began
	name  string        // in the file's name
	why   string        // the mark
	again bool          // it could not be kept before
}

func newIncidents(o ringOptions, interval time.Duration) *incidents {
	return &incidents{ring: o.newRing(interval), o: o}
}

// observe takes in a sample, what was found in it and its diagnosis.
func (i *incidents) observe(s *probes.Sample, d *rules.Diagnosis, findings []*record.Finding) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ring.Write(s, findings...) // one that cannot be held is a gap in the file
	i.at, i.now = s.At, s.Mono
	if cause := i.fired(d); cause != "" {
		i.rule(trigger{at: s.At, now: s.Mono, name: cause, why: "rule " + cause + " fired"})
	}
	i.end()
	if i.waits != nil && i.dump == nil && i.now >= i.quiet {
		t := *i.waits
		i.begin(t)
	}
	i.lookAhead()
}

// fired is the cause that is new in a diagnosis, "" for none. A verdict that there is
// nothing to measure changes nothing: an engine that hangs is not well.
func (i *incidents) fired(d *rules.Diagnosis) string {
	before := i.cause
	switch d.State {
	case rules.Healthy:
		i.cause = ""
	case rules.Degraded, rules.Unknown:
		if i.cause = topCause(d); i.cause == "" {
			i.cause = "unknown"
		}
	}
	if i.cause == before {
		return ""
	}
	return i.cause
}

func (i *incidents) rule(t trigger) {
	switch {
	case i.dump != nil:
		i.extend(t)
	case i.now < i.quiet:
		if i.waits == nil {
			i.waits = &t
		}
	default:
		i.begin(t)
	}
}

// trigger writes a file because somebody wants it, or lets the one that is being written
// go on, and says so.
func (i *incidents) trigger(name, why string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	t := trigger{at: i.at, now: i.now, name: name, why: why}
	if i.at.IsZero() {
		return "nothing to keep yet"
	}
	d := i.dump
	if d != nil {
		i.extend(t)
	} else if d = i.begin(t); d == nil {
		return oneLine("not kept: " + i.failed.Error())
	}
	return oneLine(fmt.Sprintf("keeping %s, for another %s", filepath.Base(d.Path()), (i.until - i.now).Round(time.Second)))
}

// begin begins a file with what the ring holds; nil when the ring refuses.
func (i *incidents) begin(t trigger) *record.Dump {
	i.waits = nil
	d, err := i.ring.Dump(filepath.Join(i.o.dir, incidentName(t.at, t.name)), record.Mark{At: t.at, Text: t.why}, i.o.create)
	if err != nil {
		i.failed = err
		i.say("not kept: %s", err)
		return nil
	}
	i.dump, i.began, i.until = d, i.now, i.now+i.o.post
	i.why, i.marked = t, trigger{}
	if !t.again {
		i.say("%s: keeping %s", t.why, d.Path())
	}
	i.end()
	return d
}

// extend lets the file go on for --post from now, within bounds; once a sample for a
// signal that comes a thousand times.
func (i *incidents) extend(t trigger) {
	if t == i.marked {
		return
	}
	i.marked = t
	i.until = max(i.until, min(i.now+i.o.post, i.began+longest*i.o.post))
	i.ring.Mark(t.at, t.why) // it goes to the file, too
	i.say("%s: %s goes on", t.why, i.dump.Path())
}

// ended is a file to which nothing more is written.
type ended struct {
	*record.Dump
	why   trigger
	early bool // it could not be written to its end
}

// end ends the file when its time is over, and takes note of those that are closed.
func (i *incidents) end() {
	switch {
	case i.dump == nil:
	case hasEnded(i.dump):
		i.ending = append(i.ending, ended{i.dump, i.why, true})
		i.dump = nil
	case i.now >= i.until:
		i.dump.Finish()
		i.ending = append(i.ending, ended{i.dump, i.why, false})
		i.dump, i.quiet = nil, i.now+i.o.span/2
	case i.dump.Stats().Samples > 0:
		i.well()
	}
	for len(i.ending) > 0 && hasEnded(i.ending[0].Dump) {
		e := i.ending[0]
		i.ending = i.ending[1:]
		i.failed = i.settle(e.Dump)
		switch {
		case i.failed == nil:
			i.well()
		case e.early || e.Stats().Samples == 0:
			i.retry(e.why)
		}
	}
}

func hasEnded(d *record.Dump) bool {
	select {
	case <-d.Ended():
		return true
	default:
		return false
	}
}

// mostTold bounds the files that are told of at the end.
const mostTold = 1000

// settle waits until a file is closed and notes how it went.
func (i *incidents) settle(d *record.Dump) error {
	err := d.Close()
	if st := d.Stats(); st.Samples > 0 && len(i.kept) < mostTold {
		i.kept = append(i.kept, fmt.Sprintf("%s: %d samples, %d bytes", oneLine(d.Path()), st.Samples, st.Bytes))
		i.say("%s", i.kept[len(i.kept)-1])
	}
	text := ""
	switch {
	case err == nil:
	case d.Stats().Samples == 0:
		text = fmt.Sprintf("NOT KEPT: %s", err)
	default:
		text = fmt.Sprintf("%s is NOT WHOLE: %s", d.Path(), err)
	}
	if text != "" && text != i.said {
		i.say("%s", text)
	}
	i.said = text
	return err
}

func (i *incidents) say(format string, a ...any) {
	if i.log != nil {
		i.log(format, a...)
	}
}

// close ends the file that is being written, whole, and writes the one that waits. It
// returns a line about each file, and why some are not whole.
func (i *incidents) close() (files []string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.waits != nil && i.dump == nil {
		i.begin(*i.waits)
	}
	if i.dump != nil {
		i.ending = append(i.ending, ended{Dump: i.dump})
	}
	for _, d := range i.ending {
		if e := i.settle(d.Dump); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", d.Path(), e))
		}
	}
	i.dump, i.ending = nil, nil
	i.ring.Close()
	return i.kept, err
}
