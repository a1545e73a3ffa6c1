package discover

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

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
