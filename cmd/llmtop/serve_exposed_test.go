package main

import (
	"net"
	"strings"
	"testing"
)

func TestExposed(t *testing.T) {
	for _, c := range []struct {
		addr string
		key  bool
		want string // a part of it; empty: nothing
	}{
		{"127.0.0.1:8000", false, ""}, {"[::1]:8000", false, ""},
		{"[::]:8000", false, "no key"}, {"10.0.0.7:8000", true, "/metrics"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := exposed(addr, c.key); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s, key %t: %q", c.addr, c.key, got)
		}
	}
}
