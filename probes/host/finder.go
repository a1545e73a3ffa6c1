package host

import (
	"sync"
	"time"
)

// Finder follows the process that listens on an address over restarts. It
// looks at most every few seconds, since looking goes through all processes.
type Finder struct {
	addr string
	find func(addr string) (int, error)
	meet func(pid int) (alive func() bool)

	mu   sync.Mutex
	pid  int
	live func() bool // whether it is still the same process
	next time.Time
	err  error
}

// lookEvery is how often a Finder looks while there is nothing to be found.
const lookEvery = 5 * time.Second

// NewFinder returns a Finder for addr (host:port) on this machine.
func NewFinder(addr string) *Finder {
	return &Finder{addr: addr, find: PIDOf, meet: func(pid int) func() bool {
		being, _ := Meet("/", pid)
		return being.Alive
	}}
}

// PID is the listening process, 0 while it is not found. Safe for concurrent use.
func (f *Finder) PID() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pid > 0 && f.live() {
		return f.pid
	}
	f.pid = 0
	if now := time.Now(); !now.Before(f.next) {
		f.pid, f.err = f.find(f.addr)
		f.next = now.Add(lookEvery)
		if f.err == nil {
			f.live = f.meet(f.pid)
		}
	}
	return f.pid
}

// Err says why PID is 0.
func (f *Finder) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
