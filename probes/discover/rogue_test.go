package discover

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// both are two servers on one port, the first on ::1, the second on 127.0.0.1.
func (h *host) both(six, four http.Handler) (port uint16) {
	h.t.Helper()
	for range 50 {
		l6, err := net.Listen("tcp6", "[::1]:0")
		if err != nil {
			h.t.Skip("no IPv6 here:", err)
		}
		port = uint16(l6.Addr().(*net.TCPAddr).Port)
		l4, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			l6.Close()
			continue
		}
		for _, s := range []struct {
			l net.Listener
			h http.Handler
		}{{l6, six}, {l4, four}} {
			server := httptest.NewUnstartedServer(s.h)
			server.Listener.Close()
			server.Listener = s.l
			h.start(server)
			server.Start()
		}
		return port
	}
	h.t.Skip("no port is free for both families")
	return 0
}

// An engine on :: does not take IPv4 when Python made its socket. What another user's
// process on 127.0.0.1 of the same port asks for, it does not get.
func TestARogueOnTheOtherFamily(t *testing.T) {
	for _, argv := range []string{"/usr/bin/python3 rogue.py", "vllm serve evil --port PORT"} {
		for _, listed := range []bool{true, false} { // false: it came after the look at the sockets
			h := newHost(t)
			seen := make(chan string, 100)
			port := h.both(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") == "" {
					w.WriteHeader(http.StatusUnauthorized)
				}
				io.WriteString(w, vllmPage)
			}), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen <- r.Header.Get("Authorization")
				w.WriteHeader(http.StatusUnauthorized)
			}))
			h.add("vllm serve good --port PORT", 7, fmt.Sprintf("[::]:%d", port))
			if listed {
				h.add(argv, 8, fmt.Sprintf("127.0.0.1:%d", port))
				h.list[1].UID++
			}
			auth, err := probes.BearerAuth("geheim")
			if err != nil {
				t.Fatal(err)
			}
			r := h.find(Options{Access: func(f Found) probes.Access {
				return probes.Access{Auth: auth, When: func() bool { return f.PID == 7 }}
			}})
			if got := strings.Split(h.report(r), "\n")[0]; got != "vllm http://[::1]:PORT model good pid 7" {
				t.Errorf("%s, listed %v: found %s", argv, listed, got)
			}
			for range len(seen) {
				if got := <-seen; got != "" {
					t.Errorf("%s, listed %v: the rogue got %q", argv, listed, got)
				}
			}
		}
	}
}

// Two engines on one port, one a family, are two.
func TestTwoFamiliesTwoEngines(t *testing.T) {
	h := newHost(t)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, vllmPage) })
	port := h.both(page, page)
	h.add("vllm serve six --port PORT", 7, fmt.Sprintf("[::]:%d", port))
	h.add("vllm serve four --port PORT", 8, fmt.Sprintf("127.0.0.1:%d", port))
	want := "vllm http://[::1]:PORT model six pid 7\nvllm http://127.0.0.1:PORT model four pid 8"
	for range 2 {
		lines := strings.Split(h.report(h.find(Options{})), "\n")
		slices.SortFunc(lines, func(a, b string) int { return strings.Compare(b, a) })
		if got := strings.Join(lines, "\n"); got != want && got != strings.Join([]string{strings.Split(want, "\n")[1], strings.Split(want, "\n")[0]}, "\n") {
			t.Errorf("found %s", got)
		}
		slices.Reverse(h.list)
	}
}

// Where 127.0.0.1 is another socket's, a socket on :: is not asked by it.
func TestTaken(t *testing.T) {
	socket := func(addr string, netns uint64) probes.Listener {
		return probes.Listener{Addr: netip.MustParseAddrPort(addr), NetNS: netns, Other: netns > 0}
	}
	six := socket("[::]:8000", 0)
	for addr, want := range map[string]bool{"0.0.0.0:8000": true, "127.0.0.1:8000": true, "127.0.0.1:8001": false, "10.0.0.7:8000": false, "[::1]:8000": false} {
		if got := taken([]probes.Listener{six, socket(addr, 0)}, six); got != want {
			t.Errorf("%s: got %v", addr, got)
		}
	}
	if taken([]probes.Listener{six, socket("0.0.0.0:8000", 9)}, six) {
		t.Error("by a socket of another network namespace")
	}
	if four := socket("0.0.0.0:8000", 0); taken([]probes.Listener{four, four}, four) {
		t.Error("IPv4")
	}
}

// A password in the URL of a model is nobody's business.
func TestAModelsURL(t *testing.T) {
	for name, want := range map[string]string{
		"org/m": "org/m", "a@b": "a@b", "s3://bucket/m": "s3://bucket/m", "https://ops:geheim@hub/m?token=geheim": "https://hub/m",
		"https://ops:ge@heim@hub": "https://hub",
	} {
		for _, argv := range [][]string{{"vllm", "serve", name}, {"vllm", "serve", "--model", name}} {
			if got := modelOf(argv); got != want {
				t.Errorf("%q: got %q, want %q", argv, got, want)
			}
		}
	}
}

// A page that was a JSON array is trtllm-serve's queue, it may be: of one process it is read
// once, however often one searches.
func TestAQueueIsReadOnce(t *testing.T) {
	h := newHost(t)
	h.serve("x", "/usr/bin/python3 server.py", 7, pages{"/metrics": ` [{"iter": 1}]`, "/v1/models": `{"data":[{"id":"m","owned_by":"tensorrt_llm"}]}`})
	h.low()
	var spared Spared
	count := func() (n int) {
		for _, asked := range h.asked {
			if asked == "x /metrics" {
				n++
			}
		}
		return n
	}
	for i, want := range []int{1, 1, 1, 2} {
		if i == 3 { // another process
			h.list[0].PID = 8
		}
		r := h.find(Options{Spared: &spared})
		if len(r.Engines) != 1 || r.Engines[0].Dialect != "trtllm" || count() != want {
			t.Errorf("search %d: found %s, asked %d times, want %d", i, h.report(r), count(), want)
		}
	}
}

// Engines that hang do not stand in front of those that answer: not all are attached to.
func TestThoseThatAnswerComeFirst(t *testing.T) {
	h := newHost(t)
	for i := range 3 {
		h.silent("vllm serve silent --port PORT", 20+i)
	}
	h.serve("x", "vllm serve m --port PORT", 7, pages{"/metrics": vllmPage})
	if r := h.find(Options{Budget: 2 * time.Second}); len(r.Attachable()) != 4 || r.Engines[0].PID != 7 {
		t.Errorf("found %s", h.report(r))
	}
}

// What is no metrics page is none, whatever the engine; a server that cuts everything off
// is named as it was found.
func TestWhatIsNoPage(t *testing.T) {
	const front, binary = "<html><body>hi</body></html>", "\x1f\x8b\x00\x00"
	for name, body := range map[string]string{"HTML": front, "binary": binary} {
		for _, argv := range []string{"vllm serve m --port PORT", "text-generation-router --port PORT"} {
			h := newHost(t)
			h.serve("x", argv, 7, pages{"/metrics": body})
			if got := h.report(h.find(Options{})); !strings.Contains(got, "UNREADABLE") || !strings.Contains(got, "has no metrics page: name the page") {
				t.Errorf("%s: %s", name, got)
			}
			h = newHost(t)
			h.serve("x", argv, 7, pages{"/metrics": body, "/v1/metrics": vllmPage})
			if got := h.report(h.find(Options{})); strings.Contains(got, "UNREADABLE") || !strings.Contains(got, "/v1/metrics") {
				t.Errorf("%s, metrics elsewhere: %s", name, got)
			}
		}
	}
	h := newHost(t)
	h.handle("x", "vllm serve m --port PORT", 7, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
	}))
	if got := h.report(h.find(Options{})); !strings.HasPrefix(got, "vllm http://127.0.0.1:PORT model m pid 7 UNREADABLE - ") {
		t.Error(got)
	}
}

// A look that time cut short says so.
func TestAPartialLook(t *testing.T) {
	h := newHost(t)
	h.serve("x", "vllm serve m --port PORT", 7, pages{"/metrics": vllmPage})
	if h.find(Options{}).Partial {
		t.Error("a whole look is partial")
	}
	slow := func(ctx context.Context) []probes.Listener { <-ctx.Done(); return h.list }
	if r := h.find(Options{Listeners: slow, Budget: 2 * time.Second}); !r.Partial || len(r.Engines) != 1 {
		t.Errorf("sockets that were not all seen: %+v", r)
	}
	h.silent("vllm serve silent --port PORT", 8)
	if !h.find(Options{Budget: time.Second}).Partial {
		t.Error("a socket that does not answer")
	}
}

// What does not listen yet may soon; what listens where it cannot be seen is not waited for.
func TestStarting(t *testing.T) {
	argv := []string{"vllm", "serve", "m"}
	for want, l := range map[bool]probes.Listener{true: {PID: 7, Argv: argv}, false: {PID: 7, Argv: argv, Hidden: true}} {
		h := newHost(t)
		h.list = []probes.Listener{l}
		if r := h.find(Options{}); len(r.Engines) != 1 || r.Starting() != want {
			t.Errorf("%+v: %+v", l, r)
		}
	}
}
