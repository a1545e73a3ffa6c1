package main

import (
	"net/http"
	"testing"
)

// Connections that do nothing end by themselves, or they would use up the sockets;
// answers have no limit of their own here.
func TestIdleConnectionsEnd(t *testing.T) {
	s := newServer(http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 || s.WriteTimeout != 0 {
		t.Errorf("headers %s, idle %s, %d bytes of headers, writes %s", s.ReadHeaderTimeout, s.IdleTimeout, s.MaxHeaderBytes, s.WriteTimeout)
	}
}
