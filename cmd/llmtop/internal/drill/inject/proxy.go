package inject

import (
	"context"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
)

// relay passes bytes on between the load and the engine, connection by connection. What
// it does to them while a fault is on is up to its link.
type relay struct {
	engine   string // host and port
	listener net.Listener
	dialer   func(slow bool) net.Dialer
	slow     func() bool // draws which connections the fault concerns
	link     link
	on       atomic.Bool

	cancel context.CancelFunc
	over   sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool // to be broken by Stop
}

// link is what a relay does to n bytes before it passes them on, until ctx ends.
type link interface {
	down(ctx context.Context, c *flow, n int) // from the engine to the load
	up(ctx context.Context, c *flow, n int)
}

// flow is one connection.
type flow struct {
	slow bool // the fault concerns it
}

// piece is how many bytes are read at once: little, so that a slow link is slow evenly.
const piece = 2048

func (r *relay) Route(ctx context.Context, engine string) (string, error) {
	u, err := url.Parse(engine)
	if err != nil {
		return "", err
	}
	r.engine, r.conns = u.Host, map[net.Conn]bool{}
	if r.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return "", err
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.over.Go(func() { r.accept(ctx) })
	return "http://" + r.listener.Addr().String(), nil
}

func (r *relay) Start(context.Context, *Site) error {
	r.on.Store(true)
	return nil
}

// Stop breaks all connections: the load has ended, or breaks off.
func (r *relay) Stop() error {
	if r.listener == nil {
		return nil
	}
	r.on.Store(false)
	r.cancel()
	err := r.listener.Close()
	r.mu.Lock()
	for c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.over.Wait()
	r.listener = nil
	return err
}

func (r *relay) accept(ctx context.Context) {
	for ctx.Err() == nil {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.over.Go(func() { r.serve(ctx, c) })
	}
}

func (r *relay) keep(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns[c] = true
}

func (r *relay) drop(c net.Conn) {
	c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
}

// serve passes on what one connection of the load says, and is answered, until either ends it.
func (r *relay) serve(ctx context.Context, client net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.keep(client)
	defer r.drop(client)
	f := &flow{slow: r.slow == nil || r.slow()}
	dialer := net.Dialer{}
	if r.dialer != nil {
		dialer = r.dialer(f.slow)
	}
	engine, err := dialer.DialContext(ctx, "tcp", r.engine)
	if err != nil {
		return
	}
	r.keep(engine)
	defer r.drop(engine)
	stop := context.AfterFunc(ctx, func() { client.Close(); engine.Close() }) // Stop may have come before keep
	defer stop()
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer client.Close()
		r.pass(ctx, client, engine, func(n int) { r.link.down(ctx, f, n) })
	}()
	r.pass(ctx, engine, client, func(n int) { r.link.up(ctx, f, n) })
	cancel() // the client has gone: what is still held for it is nobody's
	<-over
}

func (r *relay) pass(ctx context.Context, to, from net.Conn, hold func(n int)) {
	buf := make([]byte, piece)
	for ctx.Err() == nil {
		n, err := from.Read(buf)
		if n > 0 {
			if r.on.Load() {
				hold(n)
			}
			if _, werr := to.Write(buf[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
