package twin

import "time"

// server is somebody who serves one thing after the other, in order of coming, so many
// at once: an event loop, the network. What comes is told right away when it will be over,
// so that nobody has to be kept in a queue: each place only knows when it is free. That
// costs little for what each step does, but what has come keeps its price when the speed
// changes.
type server struct {
	free []time.Duration
}

func newServer(places int) server { return server{free: make([]time.Duration, places)} }

// serve is when something that comes now and takes so long is over.
func (s *server) serve(now, takes time.Duration, p *pauses) (over time.Duration) {
	first := 0
	for i := range s.free {
		if s.free[i] < s.free[first] {
			first = i
		}
	}
	over = p.extend(max(now, s.free[first]), takes)
	s.free[first] = over
	return over
}

// busy reports whether all places are taken.
func (s *server) busy(now time.Duration) bool {
	for _, f := range s.free {
		if f <= now {
			return false
		}
	}
	return true
}

// backlog is how long something that comes now would wait.
func (s *server) backlog(now time.Duration) time.Duration {
	least := s.free[0]
	for _, f := range s.free[1:] {
		least = min(least, f)
	}
	return max(0, least-now)
}

// clear forgets what is being served.
func (s *server) clear() { clear(s.free) }
