package otlp

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// A taken port is said at once and by every read; when it is free again it is had.
func TestTakenPort(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{Addr: other.Addr().String()})
	defer p.Close()
	if err := p.Listening(); !errors.Is(err, syscall.EADDRINUSE) || !strings.HasPrefix(err.Error(), "listening for traces: ") {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if s, err := p.Read(t.Context()); s != nil || !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("read %v, %v", s, err)
		}
	}
	other.Close()
	if s, err := p.Read(t.Context()); s != nil || err != nil || p.Addr() != other.Addr().String() {
		t.Errorf("with the port free: %v, %v, listening on %q", s, err, p.Addr())
	}
	if p.Name() != "otlp "+other.Addr().String() {
		t.Errorf("name %q", p.Name())
	}
}

func TestCloseEndsEverything(t *testing.T) {
	p, _ := listening(t)
	addr := p.Addr()
	silent, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	overHTTP(t, p, from("vllm", vllmSpan(1, 2, 0, 0)))
	ended := p.server.ended
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	<-ended // nothing accepts any more
	if _, err := io.ReadAll(silent); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a connection is open after Close: %v", err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("still listening")
	}
	if s, err := p.Read(t.Context()); s != nil && err == nil {
		t.Error("listening again after Close")
	}
	if err := p.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

// Connections beyond the bound are closed; the others go on.
func TestConnectionsAreBounded(t *testing.T) {
	p, _ := listening(t)
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for range maxConnections {
		c, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	over, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	if n, err := over.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("one too many got an answer: %d, %v", n, err)
	}
	if _, err := io.WriteString(open[0], "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(open[0]); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Errorf("one of the first got %q, %v", answer, err)
	}
}

// A client that stops in the middle does not stay.
func TestSlowClientsAreEnded(t *testing.T) {
	p, _ := listening(t)
	s := p.server.http
	for name, d := range map[string]time.Duration{"header": s.ReadHeaderTimeout, "body": s.ReadTimeout, "answer": s.WriteTimeout, "idle": s.IdleTimeout} {
		if d <= 0 || d > idleTimeout {
			t.Errorf("%s: %s", name, d)
		}
	}
	if s.MaxHeaderBytes > 64<<10 || s.HTTP2.MaxConcurrentStreams > 32 {
		t.Errorf("%d bytes of headers, %d streams", s.MaxHeaderBytes, s.HTTP2.MaxConcurrentStreams)
	}
}

// Which engine spans belong to.
func TestEndpoints(t *testing.T) {
	const a, b, c = "http://127.0.0.1:8000", "http://gpu-7:8000", "https://gpu-8"
	cases := []struct {
		name     string
		attached []string
		resource []any
		want     string
	}{
		{"the only one", []string{a}, []any{"service.name", "anything"}, a},
		{"none attached", nil, []any{"service.name", "vllm"}, "otlp:vllm"},
		{"no name", nil, nil, "otlp:unknown"},
		{"an instance", []string{a, b}, []any{"service.name", "vllm", "service.instance.id", "gpu-7:8000"}, b},
		{"an instance by its address", []string{a, b}, []any{"service.instance.id", "http://127.0.0.1:8000/"}, a},
		{"a server's address and port", []string{a, b}, []any{"server.address", "gpu-7", "server.port", 8000}, b},
		{"a port as text", []string{a, b}, []any{"server.address", "gpu-7", "server.port", "8000"}, b},
		{"another port", []string{a, "http://gpu-7:8001", b}, []any{"server.address", "gpu-7", "server.port", 8002, "service.name", "x"}, "otlp:x"},
		{"a host that has one", []string{a, b, c}, []any{"host.name", "gpu-8"}, c},
		{"a host that has two", []string{b, "http://gpu-7:8001"}, []any{"host.name", "gpu-7", "service.name", "x"}, "otlp:x"},
		{"hostile", []string{a, b}, []any{"service.name", "a\x1b[2Jb\n" + strings.Repeat("c", 200)}, "otlp:a[2Jb " + strings.Repeat("c", 54) + "…"},
		{"too long", []string{a, b}, []any{"service.name", strings.Repeat("c", 300)}, "otlp:unknown"},
	}
	for _, c := range cases {
		if got := serviceOf(attrs(c.resource...)).endpoint(c.attached); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Each endpoint has one section; those that have nothing new stay, with their time.
func TestSections(t *testing.T) {
	p, c := listening(t)
	c.now = at(2)
	overHTTP(t, p, from("a", vllmSpan(1, 2, 0, 0), vllmSpan(1, 3, 0, 0, "gen_ai.latency.time_in_queue", -1.0)))
	overGRPC(t, p, from("b", vllmSpan(2, 2, 0, 0)))
	got, err := readSet(t, p)
	if len(got) != 2 || len(got["otlp:a"].Finished) != 1 || got["otlp:a"].Missed != 1 || len(got["otlp:b"].Finished) != 1 {
		t.Errorf("got %+v", got)
	}
	if err == nil || err.Error() != "1 requests left out, times that cannot be" {
		t.Errorf("error %v", err)
	}
	first := got["otlp:a"]
	if got, err := readSet(t, p); len(got) != 0 || err != nil {
		t.Errorf("without news: %+v, %v", got, err)
	}
	c.now = at(4)
	overHTTP(t, p, from("b", vllmSpan(3, 2, 0, 0)))
	got, err = readSet(t, p)
	if len(got) != 2 || err != nil || len(got["otlp:a"].Finished)+got["otlp:a"].Missed != 0 || !got["otlp:a"].At.Equal(at(2)) || !got["otlp:b"].At.Equal(at(4)) || got["otlp:b"].Finished[0].Seq != 3 {
		t.Errorf("later: %+v, %v", got, err)
	}
	if len(first.Finished) != 1 {
		t.Error("a published section changed")
	}
	c.now = at(90)
	overHTTP(t, p, from("b", vllmSpan(4, 2, 0, 80)))
	if got, _ := readSet(t, p); len(got) != 1 {
		t.Errorf("a minute later: %+v", got)
	}
}

func TestEndpointsAreBounded(t *testing.T) {
	p, c := listening(t)
	c.now = at(2)
	all := &tracepb.TracesData{}
	for i := range 3 * maxEndpoints {
		all.ResourceSpans = append(all.ResourceSpans, from(strings.Repeat("s", i+1)[:min(i+1, 50)]+string('a'+rune(i%26)), vllmSpan(i+1, 2, 0, 0)).ResourceSpans...)
	}
	overHTTP(t, p, all)
	got, _ := readSet(t, p)
	n := 0
	for _, s := range got {
		n += len(s.Finished)
	}
	if len(got) > maxEndpoints+1 || n != 3*maxEndpoints || len(got[otherEndpoint].Finished) == 0 {
		t.Errorf("%d sections, %d requests", len(got), n)
	}
}
