package record

import (
	"errors"
	"time"

	"llmtop/probes"
)

// ErrBehind is the state of a recording whose disk neither takes what comes nor refuses
// it, as a network disk does whose server is gone.
var ErrBehind = errors.New("the disk does not answer; samples wait in memory")

// behindAfter is how far the disk may be behind before that is said: a slow one is not dead.
const behindAfter = 5 * time.Second

// lag is how far what was handed over is ahead of what is done with, in the samples' own
// time.
type lag struct {
	begun    bool
	handed   time.Duration // time of the sample handed over last
	done     time.Duration // of the one done with last
	interval time.Duration
}

// hand notes a sample that is to be written.
func (l *lag) hand(s *probes.Sample) {
	if !l.begun {
		l.begun, l.done = true, s.Mono
	}
	l.handed, l.interval = s.Mono, s.Interval
}

// finish notes that a sample is written, or could not be.
func (l *lag) finish(s *probes.Sample) { l.begun, l.done = true, s.Mono }

func (l *lag) err() error {
	if l.handed-l.done > max(2*l.interval, behindAfter) {
		return ErrBehind
	}
	return nil
}
