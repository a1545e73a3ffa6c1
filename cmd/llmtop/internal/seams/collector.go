package seams

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// collector gives Go's garbage collector work: memory full of pointers to look through,
// and a call to do it, again and again. How much of the processors that takes is the
// collector's doing; with GODEBUG=gcstoptheworld=1 in the environment it stops all else
// meanwhile, as collectors of interpreters do.
type collector struct {
	mu  sync.Mutex
	end func() // of the one at work; nil: none
}

// mostGarbage bounds what is kept, in bytes.
const mostGarbage = 512 << 20

// control takes the share of the time and the bytes to look through.
func (c *collector) control(words []string) error {
	share, err := parseShare(words[0])
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(words[1])
	if err != nil || size < 0 || size > mostGarbage {
		return fmt.Errorf("%q is no number of bytes up to %d", words[1], mostGarbage)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		c.end()
		c.end = nil
	}
	if share > 0 {
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan struct{})
		go func() {
			defer close(over)
			collect(ctx, share, size)
		}()
		c.end = func() { cancel(); <-over }
	}
	return nil
}

// knot is what the kept memory is made of: each has pointers to others, so that the
// collector must follow them all.
type knot struct {
	next, other *knot
	fill        [6]uint64
}

const knotBytes = 64

// collect calls the collector until ctx ends, each time after a rest as long as makes its
// part of the time the share.
func collect(ctx context.Context, share float64, size int) {
	kept := tie(size / knotBytes)
	for ctx.Err() == nil {
		begun := time.Now()
		runtime.GC()
		worked := time.Since(begun)
		pause(ctx, time.Duration(float64(worked)*(1-share)/share))
	}
	runtime.KeepAlive(kept)
}

// tie makes n knots that hang together, far from each other in memory.
func tie(n int) *knot {
	if n < 1 {
		return nil
	}
	knots := make([]*knot, n)
	for i := range knots {
		knots[i] = &knot{}
	}
	for i, k := range knots {
		k.next = knots[(i+1)%n]
		k.other = knots[(i*7919+n/2)%n]
	}
	return knots[0]
}
