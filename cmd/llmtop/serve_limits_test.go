package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"llmtop/engine"
)

// listen serves an engine on a free port, as the command does; the test ends it.
func listen(t testing.TB, c engine.Config) (addr string) {
	t.Helper()
	e, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	over := make(chan error)
	go func() { over <- serveUntil(ctx, e, e.Handler(), l, 0, io.Discard) }()
	t.Cleanup(func() {
		end()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// A request with headers beyond all measure is refused before anything is kept of it.
func TestGiantHeaders(t *testing.T) {
	addr := listen(t, engine.Config{Threads: 1})
	for name, header := range map[string]string{
		"one long header":   "X-Long: " + strings.Repeat("x", 1<<20) + "\r\n",
		"many headers":      strings.Repeat("X-Many: y\r\n", 100_000),
		"a long request":    "", // its line is
		"a header unending": "X-Open: " + strings.Repeat("x", 1<<20),
	} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		line := "GET /health HTTP/1.1\r\n"
		if header == "" {
			line = "GET /" + strings.Repeat("x", 1<<20) + " HTTP/1.1\r\n"
		}
		go io.WriteString(conn, line+"Host: x\r\n"+header+"\r\n") // may end in the middle
		answer, _ := bufio.NewReader(conn).ReadString('\n')
		if !strings.Contains(answer, " 431 ") {
			t.Errorf("%s: answer %q, want status 431", name, answer)
		}
		conn.Close()
	}
	r, err := http.Get("http://" + addr + "/health/live")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
}

// idle opens connections; half of which have had an answer, half of which have sent
// the beginning of a request. The caller closes them.
func idle(t testing.TB, addr string, n int) (conns []net.Conn) {
	t.Helper()
	for i := range n {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		conns = append(conns, conn)
		if i%2 == 0 {
			io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Le")
			continue
		}
		io.WriteString(conn, "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
	return conns
}

// Connections that do nothing keep nobody from being served.
func TestIdleConnections(t *testing.T) {
	addr := listen(t, engine.Config{Threads: 1})
	for _, conn := range idle(t, addr, 200) {
		defer conn.Close()
	}
	r, err := http.Post("http://"+addr+"/v1/completions", "", strings.NewReader(`{"prompt":"x","max_tokens":2}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, _ := io.ReadAll(r.Body); r.StatusCode != 200 {
		t.Errorf("%d %s", r.StatusCode, b)
	}
}
