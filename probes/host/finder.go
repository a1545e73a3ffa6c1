package host

import (
	"os"
	"strconv"
	"sync"
	"time"
)

// Finder follows the process that listens on an address over restarts. It
// looks at most every few seconds, since looking goes through all processes.
type Finder struct {
	addr string
	find func(addr string) (int, error)
	live func(pid int) bool

	mu   sync.Mutex
	pid  int
	next time.Time
	err  error
}

// lookEvery is how often a Finder looks while there is nothing to be found.
const lookEvery = 5 * time.Second

// NewFinder returns a Finder for addr (host:port) on this machine.
func NewFinder(addr string) *Finder {
	return &Finder{addr: addr, find: PIDOf, live: func(pid int) bool {
		_, err := os.Stat("/proc/" + strconv.Itoa(pid))
		return err == nil
	}}
}

// PID is the listening process, 0 while it is not found. Safe for concurrent use.
func (f *Finder) PID() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pid > 0 && f.live(f.pid) {
		return f.pid
	}
	f.pid = 0
	if now := time.Now(); !now.Before(f.next) {
		f.pid, f.err = f.find(f.addr)
		f.next = now.Add(lookEvery)
	}
	return f.pid
}

// Err says why PID is 0.
func (f *Finder) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
