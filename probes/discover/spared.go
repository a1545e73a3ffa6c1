package discover

import (
	"bytes"
	"strconv"
	"sync"

	"llmtop/probes"
)

// maxSpared bounds the pages that are remembered.
const maxSpared = 1024

// Spared remembers, from one search to the next, whose /metrics was a JSON array: a queue
// of trtllm-serve, which a reader takes from others. It is not asked for again while the
// process is the same. The zero value remembers nothing yet.
type Spared struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (s *Spared) has(e probes.Endpoint, pid int) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[sparedKey(e, pid)]
}

// note remembers the page when it is such a queue.
func (s *Spared) note(e probes.Endpoint, pid int, page *probes.Page) {
	if s == nil || !bytes.HasPrefix(bytes.TrimSpace(page.Body), []byte("[")) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if len(s.seen) < maxSpared {
		s.seen[sparedKey(e, pid)] = true
	}
}

func sparedKey(e probes.Endpoint, pid int) string { return strconv.Itoa(pid) + " " + e.Key() }
