package discover

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"llmtop/probes"
)

// pages is a server: the answer at each path, "CODE BODY" or a body; all else is 404.
type pages map[string]string

// host is invented: servers on real sockets, and processes that are said to hold them.
type host struct {
	t     testing.TB
	list  []probes.Listener
	mu    sync.Mutex
	asked []string // "PORT-NAME /path", in the order of coming
	names map[string]string
	conns sync.Map // net.Conn of the servers
	open  int
}

func newHost(t testing.TB) *host { return &host{t: t, names: map[string]string{}} }

// serve starts a server and says which process holds its socket; PORT in argv is its port.
func (h *host) serve(name, argv string, pid int, p pages) string {
	return h.handle(name, argv, pid, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := p[r.URL.Path]
		if server := p["Server"]; server != "" {
			w.Header().Set("Server", server)
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		var code int
		if n, _ := fmt.Sscanf(body, "%3d ", &code); n == 1 && code >= 100 {
			w.WriteHeader(code)
			body = body[3:]
		}
		io.WriteString(w, body)
	}))
}

func (h *host) handle(name, argv string, pid int, handler http.Handler) string {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.asked = append(h.asked, name+" "+r.URL.Path)
		h.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	h.start(server)
	server.Start()
	return h.add(argv, pid, server.Listener.Addr().String())
}

func (h *host) start(server *httptest.Server) {
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		h.mu.Lock()
		defer h.mu.Unlock()
		switch s {
		case http.StateNew:
			h.open++
		case http.StateClosed, http.StateHijacked:
			h.open--
		}
	}
	h.t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
}

// add says that a process holds a socket.
func (h *host) add(argv string, pid int, addr string) string {
	at := netip.MustParseAddrPort(addr)
	words := strings.Fields(strings.ReplaceAll(argv, "PORT", fmt.Sprint(at.Port())))
	h.list = append(h.list, probes.Listener{Addr: at, PID: pid, UID: os.Geteuid(), Argv: words})
	return addr
}

// silent is a socket that takes connections and never answers.
func (h *host) silent(argv string, pid int) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Skip("no loopback here:", err)
	}
	h.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			h.mu.Lock()
			h.open++
			h.mu.Unlock()
			go func() { // until the other end is gone
				io.Copy(io.Discard, c)
				c.Close()
				h.mu.Lock()
				h.open--
				h.mu.Unlock()
			}()
		}
	}()
	return h.add(argv, pid, l.Addr().String())
}

func (h *host) connections() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// recognise stands for package dialect: a page names its engine by a prefix.
func recognise(p *probes.Page) *probes.Engine {
	for prefix, dialect := range map[string]string{"vllm:": "vllm", "sglang:": "sglang", "trtllm_": "trtllm", "llamacpp:": "llamacpp", "nv_": "triton", "dynamo_": "dynamo", "tgi_": "tgi"} {
		if strings.Contains("\n"+string(p.Body), "\n"+prefix) {
			return &probes.Engine{Dialect: dialect}
		}
	}
	return nil
}

func (h *host) find(o Options) Report {
	h.t.Helper()
	if o.Listeners == nil {
		o.Listeners = func(context.Context) []probes.Listener { return h.list }
	}
	if o.Recognise == nil {
		o.Recognise = recognise
	}
	if o.Budget == 0 {
		o.Budget = 10 * time.Second // a busy machine is no reason to fail
	}
	return Find(context.Background(), o)
}

// report puts findings on lines.
func (h *host) report(r Report) string {
	var lines []string
	for _, f := range r.Engines {
		line := fmt.Sprintf("%s %s", f.Dialect, f.Endpoint)
		if f.Model != "" {
			line += " model " + f.Model
		}
		if f.PID > 0 {
			line += fmt.Sprintf(" pid %d", f.PID)
		}
		if !f.Metrics {
			line += " UNREADABLE"
		}
		if why := f.Why(); why != "" {
			line += " - " + why
		}
		if len(f.Also) > 0 {
			line += fmt.Sprintf(" also %v", f.Also)
		}
		lines = append(lines, line)
	}
	text := strings.Join(lines, "\n")
	for _, l := range h.list {
		text = strings.ReplaceAll(text, fmt.Sprintf(":%d", l.Addr.Port()), ":PORT")
	}
	return text
}

const (
	vllmPage = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1\n"
	plain    = "# TYPE python_info gauge\npython_info 1\n"
)
