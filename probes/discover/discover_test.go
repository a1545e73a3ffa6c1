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
	"path/filepath"
	"slices"
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

// TestEngines: each engine as its command line and its pages tell.
func TestEngines(t *testing.T) {
	python := "/usr/bin/python3 -u -m "
	for _, c := range []struct {
		name, argv string
		pages      pages
		want       string
		asked      string // paths, "" when they do not matter
	}{
		{"vLLM", "/usr/bin/python3 /usr/bin/vllm serve org/m --port PORT", pages{"/metrics": vllmPage}, "vllm http://127.0.0.1:PORT model org/m pid 7", "/metrics"},
		{"vLLM as a module", python + "vllm.entrypoints.openai.api_server --model=m --port=PORT", pages{"/metrics": vllmPage}, "vllm http://127.0.0.1:PORT model m pid 7", "/metrics"},
		{"vLLM without statistics", "vllm serve m --disable-log-stats --port PORT", pages{"/metrics": plain, "/v1/models": `{"data":[{"id":"m","owned_by":"vllm"}]}`},
			"vllm http://127.0.0.1:PORT model m pid 7 UNREADABLE - vLLM on :PORT runs with --disable-log-stats: its page has no metrics of the engine: start it without", ""},
		{"a stranger that is vLLM without statistics", "/usr/bin/python3 server.py", pages{"/metrics": plain, "/v1/models": `{"data":[{"id":"m\u001b[31m","owned_by":"vllm"}]}`},
			"vllm http://127.0.0.1:PORT model m[31m pid 7 UNREADABLE - vLLM on :PORT has none of the engine's metrics on its page: start it without --disable-log-stats", ""},
		{"SGLang", python + "sglang.launch_server --model-path m --port PORT", pages{"/metrics": "sglang:num_queue_reqs 1\n"}, "sglang http://127.0.0.1:PORT model m pid 7", "/metrics"},
		{"SGLang without metrics", python + "sglang.launch_server --model-path m --port PORT", pages{},
			"sglang http://127.0.0.1:PORT model m pid 7 UNREADABLE - SGLang on :PORT does not expose metrics: start it with --enable-metrics", ""},
		{"llama.cpp", "/opt/llama-server -m /m/x.gguf --port PORT", pages{"/props": `{"build_info":"b10600-abc","total_slots":4,"model_path":"/m/x.gguf"}`, "/metrics": "llamacpp:requests_processing 0\n"},
			"llamacpp http://127.0.0.1:PORT model /m/x.gguf pid 7", "/props /metrics"},
		{"llama.cpp without metrics", "llama-server --port PORT", pages{"/props": `{"build_info":"b10600-abc","total_slots":4,"model_alias":"x"}`, "/metrics": "501 {}"},
			"llamacpp http://127.0.0.1:PORT model x pid 7 UNREADABLE - llama.cpp on :PORT does not expose metrics: start it with --metrics", ""},
		{"a stranger that calls itself llama.cpp", "/usr/bin/python3 x.py", pages{"Server": "llama.cpp", "/metrics": "501 {}"},
			"llamacpp http://127.0.0.1:PORT pid 7 UNREADABLE - llama.cpp on :PORT does not expose metrics: start it with --metrics", ""},
		{"a router of llama.cpp", "llama-server --port PORT", pages{"/props": `{"role":"router","build_info":"b10600-abc"}`, "/metrics": "400 {}"},
			"llamacpp http://127.0.0.1:PORT pid 7 UNREADABLE - llama.cpp on :PORT is a router, which tells metrics only of a model that is named (?model=): name one of its servers: llmtop http://HOST:PORT", "/props"},
		{"llama.cpp asleep", "llama-server --port PORT", pages{"/props": `{"build_info":"b8000-abc","is_sleeping":true}`, "/metrics": "llamacpp:requests_processing 0\n"},
			"llamacpp http://127.0.0.1:PORT pid 7 UNREADABLE - llama.cpp on :PORT is asleep, and reading the metrics of build 8000 would wake it: send it a request, or update it to b10519 or later", "/props"},
		{"llama.cpp asleep, of a build that sleeps on", "llama-server --port PORT", pages{"/props": `{"build_info":"b10519-abc","is_sleeping":true}`, "/metrics": "llamacpp:requests_processing 0\n"},
			"llamacpp http://127.0.0.1:PORT pid 7", "/props /metrics"},
		{"trtllm-serve", "/usr/bin/python3 /usr/bin/trtllm-serve m --port PORT", pages{"/metrics": `[{"iter":1}]`, "/prometheus/metrics": "trtllm_num_requests_running 0\n"},
			"trtllm http://127.0.0.1:PORT/prometheus/metrics pid 7", "/prometheus/metrics"},
		{"trtllm-serve without the page", "trtllm-serve serve m --port PORT", pages{"/metrics": `[{"iter":1}]`},
			"trtllm http://127.0.0.1:PORT/prometheus/metrics model m pid 7 UNREADABLE - trtllm-serve on :PORT has no /prometheus/metrics: set return_perf_metrics: true in its configuration", "/prometheus/metrics"},
		{"trtllm-serve before its first request", "trtllm-serve serve m --port PORT", pages{"/prometheus/metrics": plain}, "trtllm http://127.0.0.1:PORT/prometheus/metrics model m pid 7", ""},
		{"a stranger that is trtllm-serve", "/usr/bin/python3 x.py", pages{"/metrics": `[{"iter":1}]`, "/prometheus/metrics": "trtllm_num_requests_running 0\n"},
			"trtllm http://127.0.0.1:PORT/prometheus/metrics pid 7", "/prometheus/metrics"},
		{"NIM", python + "vllm_nvext.entrypoints.openai.api_server --port PORT", pages{"/v1/metrics": vllmPage}, "vllm http://127.0.0.1:PORT/v1/metrics pid 7", "/v1/metrics"},
		{"Triton", "tritonserver --metrics-port=PORT", pages{"/metrics": "nv_inference_count 1\n"}, "triton http://127.0.0.1:PORT pid 7", "/metrics"},
		{"Triton without metrics", "tritonserver --http-port=PORT", pages{"/metrics": "nv_inference_count 1\n"},
			"triton http://127.0.0.1:PORT pid 7 UNREADABLE - Triton on :PORT has no metrics on :8002: start it without --allow-metrics=false, and name another port: llmtop http://HOST:PORT", "/v1/models"},
		{"Dynamo's frontend", python + "dynamo.frontend --http-port PORT", pages{"/metrics": "dynamo_frontend_queued_requests 1\n"}, "dynamo http://127.0.0.1:PORT pid 7", "/metrics"},
		{"a Dynamo worker on a port of the kernel's choice", python + "dynamo.vllm --model m", pages{"/metrics": "dynamo_component_x 1\n"},
			"dynamo  model m pid 7 UNREADABLE - Dynamo worker, pid 7, exposes no metrics: start it with DYN_SYSTEM_PORT=8081", "none"},
		{"TGI", "text-generation-router --port PORT", pages{"/metrics": "tgi_queue_size 1\n"}, "tgi http://127.0.0.1:PORT pid 7", "/metrics"},
		{"LMDeploy without metrics", "/usr/bin/python3 /usr/bin/lmdeploy serve api_server m --server-port PORT --disable-metrics", pages{"/v1/models": `{"data":[{"id":"m","owned_by":"lmdeploy"}]}`},
			"lmdeploy http://127.0.0.1:PORT model m pid 7 UNREADABLE - LMDeploy on :PORT does not expose metrics: start it without --disable-metrics", ""},
		{"Ray's agent", "/usr/bin/python3 -u /x/ray/dashboard/agent.py --metrics-export-port=PORT", pages{"/metrics": vllmPage}, "vllm http://127.0.0.1:PORT pid 7", "/metrics"},
		{"our own", "/tmp/exe/llmtop serve --addr 127.0.0.1:PORT", pages{"/metrics": vllmPage}, "vllm http://127.0.0.1:PORT pid 7", "/metrics"},
		{"wants credentials", "vllm serve m --port PORT", pages{"/metrics": "401 who; are you?"},
			"vllm http://127.0.0.1:PORT model m pid 7 UNREADABLE - vLLM on :PORT: the server wants credentials: it answered 401 Unauthorized (who; are you?): give them with --auth bearer:TOKEN", "/metrics"},
		{"a server of something else", "/usr/bin/python3 -m http.server", pages{"/metrics": plain}, "", "/prometheus/metrics /metrics /v1/models"},
		{"a page of no engine", "/usr/bin/python3 x.py", pages{"/metrics": "<html>", "/v1/models": `{"data":[]}`}, "", ""},
		{"a proxy of others' models", "/usr/bin/python3 x.py", pages{"/v1/models": `{"data":[{"id":"gpt","owned_by":"openai"}]}`}, "", ""},
		{"a database", "/usr/bin/redis-server 127.0.0.1:PORT", pages{"/metrics": vllmPage}, "", "none"},
		{"a rank", "VLLM::Worker_TP0", pages{"/metrics": vllmPage}, "", "none"},
		{"an engine that fails", "vllm serve m --port PORT", pages{"/metrics": "500 oops", "/v1/models": "500 oops"},
			"vllm http://127.0.0.1:PORT model m pid 7 UNREADABLE - vLLM on :PORT has no metrics page (500 Internal Server Error): name the page, if it has one elsewhere: llmtop http://HOST:PORT/PATH/metrics", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			h.serve("x", c.argv, 7, c.pages)
			if !strings.Contains(c.argv, "PORT") && !strings.HasPrefix(c.want, "dynamo  ") {
				h.low()
			}
			r := h.find(Options{})
			if got := h.report(r); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			asked := strings.ReplaceAll(strings.Join(h.asked, " "), "x ", "")
			if c.asked == "none" && asked != "" || c.asked != "" && c.asked != "none" && asked != c.asked {
				t.Errorf("asked for %q, want %q", asked, c.asked)
			}
		})
	}
}

// low lets the last socket pass for one of a port that is not ephemeral: its endpoint is
// reached through a socket that is.
func (h *host) low() {
	l, err := listenLow()
	if err != nil {
		h.t.Skip(err)
	}
	h.t.Cleanup(func() { l.Close() })
	last := &h.list[len(h.list)-1]
	to := last.Addr.String()
	last.Addr = netip.MustParseAddrPort(l.Addr().String())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				d, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer d.Close()
				go func() { io.Copy(d, c); d.(*net.TCPConn).CloseWrite() }()
				io.Copy(c, d)
			}()
		}
	}()
}

// listenLow finds a free port below those that the kernel chooses.
func listenLow() (net.Listener, error) {
	for port := 18000; port < 19000; port++ {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no free port")
}

// TestOneEngineOnce: what is one engine is found once, under its best name.
func TestOneEngineOnce(t *testing.T) {
	h := newHost(t)
	addr := netip.MustParseAddrPort(h.serve("x", "vllm serve m --port PORT", 7, pages{"/metrics": vllmPage}))
	argv := h.list[0].Argv
	for _, ip := range []string{"0.0.0.0", "::", "10.0.0.7"} {
		h.list = append(h.list, probes.Listener{Addr: netip.AddrPortFrom(netip.MustParseAddr(ip), addr.Port()), PID: 7, Argv: argv})
	}
	slices.Reverse(h.list)
	if got := h.report(h.find(Options{})); got != "vllm http://127.0.0.1:PORT model m pid 7" {
		t.Error(got)
	}
}

// A socket on :: that does not take IPv4 is reached by IPv6.
func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here:", err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, vllmPage) }))
	server.Listener.Close()
	server.Listener = l
	h := newHost(t)
	h.start(server)
	server.Start()
	h.add("vllm serve m --port PORT", 7, fmt.Sprintf("[::]:%d", l.Addr().(*net.TCPAddr).Port))
	if got := h.report(h.find(Options{})); got != "vllm http://[::1]:PORT model m pid 7" {
		t.Error(got)
	}
}

// A proxy in front passes the engine's page on: one engine, by its own address.
func TestAProxyInFront(t *testing.T) {
	h := newHost(t)
	page := "# x\nprocess_start_time_seconds 1.76e+09\n" + vllmPage
	h.serve("engine", "vllm serve m --port PORT", 7, pages{"/metrics": page})
	h.serve("proxy", "/usr/bin/python3 proxy.py", 8, pages{"/metrics": page})
	h.low()
	h.list[1].Argv = []string{"/usr/bin/python3", "proxy.py", "--model", "m"}
	r := h.find(Options{})
	if got := h.report(r); got != "vllm http://127.0.0.1:PORT model m pid 7 also [http://127.0.0.1:PORT]" {
		t.Error(got)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no Unix sockets here:", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, vllmPage) })}
	go server.Serve(l)
	defer server.Close()
	h := newHost(t)
	h.list = []probes.Listener{{Path: path, PID: 7, Argv: []string{"vllm", "serve", "m", "--uds", path}}}
	if got, want := h.report(h.find(Options{})), "vllm unix:"+path+" model m pid 7"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// HTTPS is recognised by what the port says to plain HTTP.
func TestHTTPS(t *testing.T) {
	h := newHost(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, vllmPage) }))
	h.start(server)
	server.StartTLS()
	h.add("vllm serve m --ssl-certfile x --port PORT", 7, server.Listener.Addr().String())
	const missing = "vllm https://127.0.0.1:PORT model m pid 7 UNREADABLE - vLLM on :PORT speaks TLS with a certificate that is not trusted for this address: " +
		"name it as its certificate does, with --ca FILE if need be, or do not check it with --insecure"
	if got := h.report(h.find(Options{})); got != missing {
		t.Errorf("\n got %s\nwant %s", got, missing)
	}
	insecure := func(Found) probes.Access { return probes.Access{Insecure: true} }
	if got := h.report(h.find(Options{Access: insecure})); got != "vllm https://127.0.0.1:PORT model m pid 7" {
		t.Errorf("unchecked: %s", got)
	}
}

// Only an engine's process is shown credentials, and only when it asks for them.
func TestCredentialsAreForEngines(t *testing.T) {
	auth, err := probes.BearerAuth("geheim")
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t)
	seen := map[string]bool{}
	door := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.mu.Lock()
			seen[name+r.Header.Get("Authorization")] = true
			h.mu.Unlock()
			if r.Header.Get("Authorization") == "" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			io.WriteString(w, vllmPage)
		})
	}
	h.handle("engine", "vllm serve m --port PORT", 7, door("engine"))
	h.handle("rogue", "/usr/bin/python3 rogue.py", 8, door("rogue"))
	h.low()
	h.handle("other", "vllm serve m --port PORT", 9, door("other"))
	h.list[2].UID = os.Geteuid() + 1
	access := func(f Found) probes.Access {
		return probes.Access{Auth: auth, When: func() bool { return f.ByCommand && f.UID == os.Geteuid() }}
	}
	r := h.find(Options{Access: access})
	if len(r.Attachable()) != 1 || r.Attachable()[0].PID != 7 {
		t.Errorf("found %s", h.report(r))
	}
	if !seen["engineBearer geheim"] || !seen["engine"] || !seen["rogue"] || !seen["other"] || seen["rogueBearer geheim"] || seen["otherBearer geheim"] {
		t.Errorf("the servers saw %v", seen)
	}
}

// What is in another network namespace that may not be entered is said.
func TestElsewhere(t *testing.T) {
	argv := strings.Fields("/usr/bin/python3 /usr/bin/vllm serve m")
	h := newHost(t)
	h.list = []probes.Listener{
		{Addr: netip.MustParseAddrPort("0.0.0.0:8000"), Other: true, UID: 1000},
		{Addr: netip.MustParseAddrPort("0.0.0.0:22"), Other: true, UID: 0},
		{Other: true, PID: 4242, UID: 1000, Argv: argv, Hidden: true, Container: "0123456789ab"},
		{PID: 4243, UID: 1000, Argv: argv, Hidden: true},
		{PID: 4244, UID: os.Geteuid(), Argv: argv},
	}
	want := strings.Join([]string{
		"vllm  model m pid 4244 UNREADABLE - vllm serve, pid 4244, does not listen yet: it may be loading its model: wait",
		"vllm  model m pid 4242 UNREADABLE - vllm serve, pid 4242, listens on :8000 in another network namespace (container 0123456789ab): entering it needs root",
		"vllm  model m pid 4243 UNREADABLE - vllm serve, pid 4243, is another user's: where it listens is not to be seen: be root, or name it: llmtop http://HOST:PORT",
	}, "\n")
	if got := h.report(h.find(Options{})); strings.ReplaceAll(got, ":PORT", ":8000") != strings.ReplaceAll(want, ":PORT", ":8000") {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// A published port of a container is the container's engine, not docker-proxy's.
func TestAPublishedPort(t *testing.T) {
	h := newHost(t)
	addr := netip.MustParseAddrPort(h.serve("x", "/usr/bin/docker-proxy -proto tcp -host-ip 0.0.0.0 -host-port PORT -container-ip 172.17.0.2 -container-port 8000", 50, pages{"/metrics": vllmPage}))
	second := h.list[0]
	second.Addr, second.PID = netip.AddrPortFrom(netip.IPv6Unspecified(), addr.Port()), 51
	inner := probes.Listener{Addr: netip.MustParseAddrPort("0.0.0.0:8000"), Other: true, NetNS: 9, PID: 60, UID: 0, Argv: strings.Fields("vllm serve m"),
		Container: "0123456789ab", Addresses: []netip.Addr{netip.MustParseAddr("172.17.0.2")}}
	h.list = append(h.list, second, inner)
	for range 2 {
		if got := h.report(h.find(Options{})); !strings.HasPrefix(got, "vllm http://127.0.0.1:PORT model m pid 60 also [http://127.0.0.1:") || !strings.HasSuffix(got, "#netns=9]") {
			t.Error(got)
		}
		slices.Reverse(h.list)
	}
	// as an ordinary user sees it
	h.list = []probes.Listener{{Addr: addr, UID: 0}, {PID: 50, UID: 0, Hidden: true, Argv: h.list[0].Argv},
		{Addr: inner.Addr, Other: true, UID: 0, Addresses: inner.Addresses}, {Other: true, PID: 60, UID: 0, Hidden: true, Argv: inner.Argv}}
	if h.list[1].Argv[0] != "/usr/bin/docker-proxy" {
		t.Fatal("the test mixed its processes up")
	}
	if got := h.report(h.find(Options{})); got != "vllm http://127.0.0.1:PORT model m pid 60" {
		t.Errorf("hidden: %s", got)
	}
}

// Text from outside is printable, whatever it is.
func TestHostile(t *testing.T) {
	h := newHost(t)
	h.serve("x", "vllm serve evil --port PORT", 7, pages{"/metrics": "500 \x1b[2J\n", "/v1/models": `{"data":[{"id":"a\u001b]0;b\u0007","owned_by":"\u001b"}]}`})
	h.list[0].Argv[2] = "\x1b[31m\x00m" + strings.Repeat("x", 100_000)
	h.list[0].Container = "\x1b"
	h.list = append(h.list, probes.Listener{PID: 8, Argv: []string{""}}, probes.Listener{PID: 9}, probes.Listener{PID: 10, Argv: []string{"python3"}},
		probes.Listener{PID: 11, Argv: []string{"python3", "-m"}}, probes.Listener{PID: 12, Argv: []string{"vllm"}}, probes.Listener{PID: 13, Argv: []string{"vllm", "serve", "--port"}})
	r := h.find(Options{})
	if len(r.Engines) != 2 {
		t.Errorf("found %d", len(r.Engines))
	}
	for _, f := range r.Engines {
		for _, text := range []string{f.Model, f.Why(), f.Title, f.Container, f.Endpoint.String()} {
			if probes.Printable(text, 1000) != text {
				t.Errorf("%q", text)
			}
		}
	}
}

// A host of sockets that never answer: the engines are found all the same, at most so many
// sockets are asked, and no connection stays.
func TestNothingIsLeftBehind(t *testing.T) {
	h := newHost(t)
	for i := range 20 {
		h.serve("x", fmt.Sprintf("vllm serve m%d --port PORT", i), 100+i, pages{"/metrics": vllmPage})
	}
	for i := range 100 {
		h.silent("vllm serve silent --port PORT", 200+i)
	}
	r := h.find(Options{Budget: 2 * time.Second})
	if len(r.Attachable()) < 20 || r.Asked != maxTried {
		t.Errorf("%d found, %d asked", len(r.Attachable()), r.Asked)
	}
	for deadline := time.Now().Add(20 * time.Second); h.connections() > 0; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are left", h.connections())
		}
	}
}

// Another user's program that calls itself docker-proxy stands for no container.
func TestAForgedForwarder(t *testing.T) {
	h := newHost(t)
	h.serve("x", "docker-proxy -host-port PORT -container-ip 172.17.0.2 -container-port 8000", 50, pages{"/metrics": vllmPage})
	h.list[0].UID = 12345
	h.list = append(h.list, probes.Listener{Addr: netip.MustParseAddrPort("0.0.0.0:8000"), Other: true, NetNS: 1, PID: 60, UID: 0,
		Argv: strings.Fields("vllm serve m"), Addresses: []netip.Addr{netip.MustParseAddr("172.17.0.2")}})
	r := h.find(Options{Budget: 5 * time.Second})
	for _, f := range r.Engines {
		if f.PID == 60 && !f.Endpoint.Elsewhere() {
			t.Errorf("it passes for the container's engine: %+v", f)
		}
	}
	if len(h.asked) > 0 {
		t.Errorf("it was asked for %v", h.asked)
	}
}
