package probes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// dialTimeout bounds a connection attempt that nobody waits for any more.
const dialTimeout = 5 * time.Second

// NewTransport returns a transport to one endpoint: it dials the Unix socket or into the
// network namespace that the endpoint names, whatever the URL says, and trusts the
// certificates that access trusts. A proxy of the environment is used for other hosts
// only: neither for loopback nor for an address of this host's own. It keeps one connection; CloseIdleConnections ends it.
func NewTransport(e Endpoint, access Access) *http.Transport {
	t := &http.Transport{
		DialContext:            dialer(e, access.Peer),
		TLSClientConfig:        access.tls(),
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConns:           1,
		IdleConnTimeout:        2 * time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true, // both ends save CPU, and no page grows in our hands
	}
	if !e.Local() && !ownAddress(e.base.Hostname()) {
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

func dialer(e Endpoint, peer func(uid int) bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: dialTimeout}
	switch {
	case e.socket != "":
		return func(ctx context.Context, _, _ string) (net.Conn, error) {
			c, err := d.DialContext(ctx, "unix", e.socket)
			if err == nil && peer != nil && !peer(peerOf(c)) {
				c.Close()
				return nil, errPeer
			}
			return c, err
		}
	case e.Elsewhere():
		n := &namespace{inode: e.netns, pid: e.pid}
		return func(ctx context.Context, _, addr string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, dialTimeout)
			defer cancel()
			return n.dial(ctx, addr)
		}
	}
	return d.DialContext
}

// errPeer is in the chain of an error about a Unix socket at which another user listens
// than the one whose engine was found there.
var errPeer = errors.New("the socket is another user's: not spoken to")

// errElsewhere is in the chain of an error about a redirect to another server.
var errElsewhere = errors.New("not followed: it is another server's; name that address if it is the engine's")

// sameServer follows a redirect within the server alone: what is asked for, and the
// credentials that go with it, are not for another one.
func sameServer(r *http.Request, via []*http.Request) error {
	if len(via) > 3 {
		return errors.New("more than 3 redirects")
	}
	if first := via[0].URL; r.URL.Scheme != first.Scheme || r.URL.Host != first.Host {
		return fmt.Errorf("it redirects to %s://%s, %w", Printable(r.URL.Scheme, 10), Printable(r.URL.Host, 100), errElsewhere)
	}
	return nil
}
