package main

import "context"

// recordRing runs a ring without a screen until ctx ends, saying what it does.
func recordRing(ctx context.Context, out *lines, a attachOptions, o ringOptions) error {
	collector := attach(a)
	defer collector.Close()
	s, err := newSession(collector)
	if err != nil {
		return failed(err, "")
	}
	s.ring = newIncidents(o, a.interval)
	s.ring.log = out.printf
	out.printf("the last %s are kept in memory; a cause that is named or SIGUSR1 writes them to %s", shortSpan(o.span), o.dir)
	stop := onSIGUSR1(func() { s.ring.trigger("signal", "SIGUSR1") })
	engines := newReach(out.printf)
	for first := true; ; first = false {
		tick, err := s.next(ctx)
		if err != nil {
			break // the time is over, or it was interrupted
		}
		if first {
			out.printf("first sample taken")
		}
		engines.observe(tick.Point.Probes)
	}
	stop()
	_, err = s.ring.close() // it has said which files there are
	return failed(err, "what was written before is whole")
}
