package inject

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// bucket lets so many bytes through a second, and sums up how long it has held them.
// Its zero value lets everything through.
type bucket struct {
	rate float64 // bytes per second; 0: all there are

	mu   sync.Mutex
	free time.Time // when the next byte may go
	held time.Duration
}

// take waits until n bytes may go.
func (b *bucket) take(ctx context.Context, n int) {
	if b.rate == 0 {
		return
	}
	b.mu.Lock()
	now := time.Now()
	if b.free.Before(now) {
		b.free = now
	}
	wait := b.free.Sub(now)
	b.free = b.free.Add(time.Duration(float64(n) / b.rate * float64(time.Second)))
	b.held += wait
	b.mu.Unlock()
	pause(ctx, wait)
}

func (b *bucket) heldSoFar() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// network is a line between the load and the engine that has little room.
//
//	bytes  a second, in each direction, of all connections together
//	delay  that each piece takes longer on its way, either way
type network struct {
	relay
	delay    time.Duration
	down, up bucket
	pieces   atomic.Int64
}

func newNetwork(with Settings) (Injector, error) {
	bytes, err1 := with.Number("bytes", 0, 64, 1<<40)
	delay, err2 := with.Duration("delay", 0, 0, time.Minute)
	if bytes == 0 && delay == 0 && err1 == nil {
		err1 = errors.New("neither bytes nor delay is given")
	}
	n := &network{delay: delay, down: bucket{rate: bytes}, up: bucket{rate: bytes}}
	n.link = lines{n}
	return n, errors.Join(err1, err2)
}

// lines are a network's two directions.
type lines struct{ *network }

func (l lines) down(ctx context.Context, _ *flow, n int) { l.hold(ctx, &l.network.down, n) }
func (l lines) up(ctx context.Context, _ *flow, n int)   { l.hold(ctx, &l.network.up, n) }

func (l lines) hold(ctx context.Context, b *bucket, n int) {
	l.pieces.Add(1)
	b.take(ctx, n)
	pause(ctx, l.delay)
}

// Confirm asks that bytes were held.
func (n *network) Confirm() error {
	held := n.down.heldSoFar() + n.up.heldSoFar() + time.Duration(n.pieces.Load())*n.delay
	if held < leastHeld {
		return errors.New("the network held no bytes back")
	}
	return nil
}

// leastHeld is how long a proxy must have held bytes, of all connections together.
const leastHeld = time.Second
