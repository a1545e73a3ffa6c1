package main

import "time"

// retryAfter is when what could not be kept is tried again, and lookEvery how often it is
// looked whether it could be, before something happens.
const (
	retryAfter = 10 * time.Second
	lookEvery  = time.Minute
)

// retry lets what could not be kept be kept once that is possible again: as long as the
// ring holds the moment, or the trouble lasts.
func (i *incidents) retry(t trigger) {
	if i.waits != nil || i.dump != nil || i.now-t.now > i.o.span && i.cause == "" {
		return
	}
	t.again = true
	i.waits, i.quiet = &t, i.now+retryAfter
}

// lookout is what is known of the disk before a file is begun.
type lookout struct {
	looking bool
	next    time.Duration // when to look again
	err     error         // why no file could be begun
}

// lookAhead finds out, behind, whether a file could be begun: that there is no room for
// one must not be learned from the incident.
func (i *incidents) lookAhead() {
	if i.ahead.looking || i.now < i.ahead.next {
		return
	}
	i.ahead.looking, i.ahead.next = true, i.now+lookEvery
	go func() {
		err := i.o.room() // a disk that does not answer keeps this, and nothing else
		i.mu.Lock()
		defer i.mu.Unlock()
		i.looked(err)
	}()
}

// well notes that files can be written; what is just being looked at is older than that.
func (i *incidents) well() {
	i.failed, i.ahead = nil, lookout{next: i.now + lookEvery}
}

func (i *incidents) looked(err error) {
	if !i.ahead.looking {
		return
	}
	before := whyNot(i.ahead.err)
	i.ahead.looking, i.ahead.err = false, err
	switch why := whyNot(err); {
	case why != "" && why != before:
		i.say("NOT READY: nothing could be kept now: %s", why)
	case why == "" && before != "":
		i.say("ready again")
	}
	if err == nil && i.waits == nil && i.dump == nil {
		i.failed = nil
	}
}
