package otlp

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Bounds of the server. A healthy exporter sends a few kilobytes every few seconds.
const (
	maxConnections = 64
	maxAtOnce      = 16 // exports that are being read
	maxStreams     = 8  // of one HTTP/2 connection
	headerTimeout  = 5 * time.Second
	bodyTimeout    = 15 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeader      = 16 << 10
)

// server listens on one port for HTTP/1 and, without encryption, HTTP/2.
type server struct {
	addr  string
	http  *http.Server
	ended chan struct{} // closed when nothing is accepted any more
}

func serve(addr string, h http.Handler) (*server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &server{addr: listener.Addr().String(), ended: make(chan struct{}), http: &http.Server{
		Handler:           h,
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: 1 << 20},
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      bodyTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0), // the screen is not its place
	}}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(&limited{Listener: listener, places: make(chan struct{}, maxConnections)})
	}()
	return s, nil
}

// close ends all connections.
func (s *server) close() error {
	err := s.http.Close()
	<-s.ended
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// limited is a listener that closes what comes beyond its places at once.
type limited struct {
	net.Listener
	places chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.places <- struct{}{}:
			return &placed{Conn: c, leave: sync.OnceFunc(func() { <-l.places })}, nil
		default:
			c.Close()
		}
	}
}

type placed struct {
	net.Conn
	leave func()
}

func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
