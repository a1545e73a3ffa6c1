package seams

import (
	"fmt"
	"strconv"
	"sync"

	"llmtop/engine"
)

// step stands at the engine's runner seam: a step may hang, or be computed beside more
// threads than there are cores for.
type step struct {
	engine.Runner

	mu   sync.Mutex
	hung chan struct{} // closed when steps go on; nil: none hangs
	pool *pool         // nil: none
}

func (s *step) wrap(real engine.Runner) engine.Runner {
	s.Runner = real
	return s
}

func (s *step) controlHang(words []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case words[0] == "on" && s.hung == nil:
		s.hung = make(chan struct{})
	case words[0] == "off" && s.hung != nil:
		close(s.hung)
		s.hung = nil
	case words[0] != "on" && words[0] != "off":
		return fmt.Errorf("%q is neither on nor off", words[0])
	}
	return nil
}

// mostThreads bounds a pool: it takes processors, not the machine.
const mostThreads = 256

func (s *step) controlPool(words []string) error {
	n, err := strconv.Atoi(words[0])
	if err != nil || n < 0 || n > mostThreads {
		return fmt.Errorf("%q is no number of threads up to %d", words[0], mostThreads)
	}
	s.mu.Lock()
	old := s.pool
	s.pool = nil
	if n > 0 {
		s.pool = newPool(n)
	}
	s.mu.Unlock()
	if old != nil {
		old.close()
	}
	return nil
}

// Run computes a step once nothing hangs any more.
func (s *step) Run(batch []engine.Chunk) ([]engine.Result, error) {
	s.mu.Lock()
	hung, pool := s.hung, s.pool
	s.mu.Unlock()
	if hung != nil {
		<-hung
	}
	if pool != nil {
		pool.begin()
		defer pool.rest()
	}
	return s.Runner.Run(batch)
}
