package inject

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// slowReaders are clients that read little a second of what the engine sends them, and
// leave it no room to send ahead.
//
//	bytes  that each reads a second
//	share  of the connections that are such clients'
type slowReaders struct {
	relay
	rate float64
	held atomic.Int64 // ns
}

func newSlowReaders(with Settings) (Injector, error) {
	bytes, err1 := with.Number("bytes", 0, 16, 1<<30)
	share, err2 := with.Number("share", 1, 0.01, 1)
	if bytes == 0 && err1 == nil {
		err1 = errors.New("no number of bytes is given")
	}
	s := &slowReaders{rate: bytes}
	draw := rand.New(rand.NewPCG(uint64(bytes), readersStream))
	var mu sync.Mutex
	s.slow = func() bool {
		mu.Lock()
		defer mu.Unlock()
		return draw.Float64() < share
	}
	s.dialer = narrow
	s.link = readers{s}
	return s, errors.Join(err1, err2)
}

const readersStream = 0x51033eade5

// narrow dials like one behind a slow line, from the beginning of a connection, as it
// cannot become so later: little room to receive, and small segments, without which
// the sender would be lent megabytes on this machine's own network.
func narrow(slow bool) net.Dialer {
	if !slow {
		return net.Dialer{}
	}
	return net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = errors.Join(
				syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096),
				syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536))
		})
		return errors.Join(err, failed)
	}}
}

// readers are the clients of slowReaders.
type readers struct{ *slowReaders }

func (r readers) up(context.Context, *flow, int) {}

func (r readers) down(ctx context.Context, f *flow, n int) {
	if !f.slow {
		return
	}
	wait := time.Duration(float64(n) / r.rate * float64(time.Second))
	r.held.Add(int64(wait))
	pause(ctx, wait)
}

// Confirm asks that clients were slow.
func (s *slowReaders) Confirm() error {
	if time.Duration(s.held.Load()) < leastHeld {
		return errors.New("no client read slowly")
	}
	return nil
}
