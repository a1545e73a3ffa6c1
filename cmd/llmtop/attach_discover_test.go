package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
	"llmtop/probes/discover"
	"llmtop/probes/host"
)

func at(t *testing.T, url string) probes.Endpoint {
	t.Helper()
	e, err := probes.ParseEndpoint(url)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// engineProcess is a process whose command line is an engine's; end ends it.
func engineProcess(t *testing.T) (pid int, end func()) {
	t.Helper()
	cmd := exec.Command("/bin/sh")
	cmd.Args = []string{"vllm", "-c", "read x", "serve"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("no shell here:", err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			in.Close()
			cmd.Wait()
		}
	}
	t.Cleanup(end)
	for { // until it is the shell, not this program on its way there
		if b, ok := host.Meet("/", cmd.Process.Pid); !ok || discover.Promising(b.Argv()) {
			return cmd.Process.Pid, end
		}
	}
}

// Credentials go to what was found only while it is an engine's process, of root or of this user.
func TestWhoIsTrusted(t *testing.T) {
	pid, end := engineProcess(t)
	me := os.Geteuid()
	engine := discover.Found{PID: pid, UID: me, ByCommand: true}
	trust := trusted(engine, me)
	if !trust() {
		t.Skip("processes cannot be seen here")
	}
	for name, f := range map[string]discover.Found{
		"the socket is another user's":     {PID: pid, UID: me + 1, ByCommand: true},
		"whose the socket is is not known": {PID: pid, UID: -1, ByCommand: true},
		"the process is a guess":           {PID: pid, UID: me},
		"no process":                       {UID: me, ByCommand: true},
		"not an engine's command line":     {PID: os.Getpid(), UID: me, ByCommand: true},
	} {
		if trusted(f, me)() {
			t.Errorf("%s: trusted", name)
		}
	}
	end()
	if trust() {
		t.Error("its process ended, and it is trusted still")
	}
}

// script answers searches with one report after the other; the last one stays.
func script(reports ...discover.Report) (look func(context.Context) discover.Report, looked *int) {
	looked = new(int)
	return func(context.Context) discover.Report {
		r := reports[min(*looked, len(reports)-1)]
		*looked++
		return r
	}, looked
}

// TestSearch: nothing is there, then an engine that cannot be read, then two that can.
func TestSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sglang := discover.Found{Title: "SGLang", Missing: "SGLang on :30000 does not expose metrics", Next: "start it with --enable-metrics"}
		one := discover.Found{Title: "vLLM", Endpoint: at(t, "127.0.0.1:8000"), Metrics: true}
		two := discover.Found{Title: "TGI", Endpoint: at(t, "http://127.0.0.1:3000/prometheus/metrics"), Metrics: true}
		a := &attached{}
		s := newSearch(attachOptions{interval: time.Second, seen: &discover.Report{Asked: 3}}, a)
		var looked *int
		s.look, looked = script(discover.Report{Engines: []discover.Found{sglang, sglang}}, discover.Report{Engines: []discover.Found{one, two, sglang}})
		want := []struct {
			says     string
			attached int
			looked   int
		}{
			{"no engine found on this host (3 ports asked); name one: llmtop http://HOST:PORT", 0, 0},
			{"SGLang on :30000 does not expose metrics: start it with --enable-metrics; and 1 more, see llmtop find", 0, 1},
			{"", 2, 2},
			{"", 2, 2},
		}
		for i, w := range want {
			_, err := s.Read(t.Context())
			says := ""
			if err != nil {
				says = err.Error()
			}
			if says != w.says || len(a.all()) != w.attached || *looked != w.looked {
				t.Errorf("%d: says %q, attached to %d, looked %d times; want %+v", i, says, len(a.all()), *looked, w)
			}
			<-time.After(searchEvery)
		}
		if len(a.early) != 2*5 {
			t.Errorf("%d probes wait for the collector", len(a.early))
		}
		for _, p := range a.early {
			closeAll(p.Probe)
		}
	})
}

func closeAll(p probes.Probe) {
	if c, ok := p.(interface{ Close() error }); ok {
		c.Close()
	}
}

// TestSearchWhenOneEnds: the process of an engine is gone and another engine appeared.
func TestSearchWhenOneEnds(t *testing.T) {
	pid, end := engineProcess(t)
	first := discover.Found{Title: "vLLM", Endpoint: at(t, "127.0.0.1:1"), Metrics: true, PID: pid}
	second := discover.Found{Title: "vLLM", Endpoint: at(t, "127.0.0.1:2"), Metrics: true}
	a := &attached{}
	s := newSearch(attachOptions{interval: time.Second, seen: &discover.Report{Engines: []discover.Found{first}}}, a)
	for _, target := range s.first() {
		a.engine(s.o, target)
	}
	var looked *int
	s.look, looked = script(discover.Report{}, discover.Report{Engines: []discover.Found{second}})
	s.next = time.Time{}
	if _, err := s.Read(t.Context()); err != nil || *looked != 0 {
		t.Errorf("while it runs: %v, looked %d times", err, *looked)
	}
	end()
	if _, err := s.Read(t.Context()); err != nil || *looked != 1 {
		t.Errorf("nothing else is there: %v, looked %d times", err, *looked)
	}
	s.next = time.Time{}
	_, err := s.Read(t.Context())
	if err == nil || err.Error() != "vLLM on http://127.0.0.1:1 ended; now attached to vLLM on http://127.0.0.1:2" || len(a.all()) != 2 {
		t.Errorf("another appeared: %v, attached to %d", err, len(a.all()))
	}
	for _, p := range a.early {
		closeAll(p.Probe)
	}
}

// TestSearchAfterARestart: another process has taken the place of the one that was found.
func TestSearchAfterARestart(t *testing.T) {
	pid, end := engineProcess(t)
	me := os.Geteuid()
	engine := discover.Found{Title: "vLLM", Endpoint: at(t, "127.0.0.1:1"), Metrics: true, PID: pid, UID: me, ByCommand: true}
	a := &attached{}
	s := newSearch(attachOptions{interval: time.Second, seen: &discover.Report{Engines: []discover.Found{engine}}}, a)
	for _, target := range s.first() {
		a.engine(s.o, target)
	}
	only := a.all()[0]
	if !only.access.When() || a.pid() != pid {
		t.Errorf("may have credentials: %v, pid %d", only.access.When(), a.pid())
	}
	end()
	if only.access.When() {
		t.Error("a process that ended may have credentials")
	}
	pid2, _ := engineProcess(t)
	engine.PID, engine.Endpoint = pid2, engine.Endpoint.WithPage("/prometheus/metrics")
	s.look, _ = script(discover.Report{Engines: []discover.Found{engine}})
	s.next = time.Time{}
	if only.page() != "/metrics" {
		t.Errorf("its page was %q", only.page())
	}
	if _, err := s.Read(t.Context()); err != nil || only.page() != "/prometheus/metrics" || len(a.all()) != 1 || a.pid() != pid2 || !only.access.When() {
		t.Errorf("%v, %d engines, pid %d, want %d, may have credentials: %v", err, len(a.all()), a.pid(), pid2, only.access.When())
	}
}

// At most so many are attached to, each once.
func TestSearchIsBounded(t *testing.T) {
	var r discover.Report
	for i := range 40 {
		r.Engines = append(r.Engines, discover.Found{Title: "vLLM", Endpoint: at(t, "127.0.0.1:"+number(9000+i)), Metrics: true})
	}
	r.Engines = append(r.Engines[:3:3], r.Engines...)
	if got := newSearch(attachOptions{seen: &r}, &attached{}).first(); len(got) != mostAttached || got[3].url != "http://127.0.0.1:9003" {
		t.Errorf("%d engines, the fourth %s", len(got), got[3].url)
	}
	if text := waitingFor(r); !strings.HasPrefix(text, "waiting for the first sample of 43 engines\nvLLM on http://127.0.0.1:9000\n") || !strings.HasSuffix(text, "\nleft out: 27 more, since at most 16 are attached to") {
		t.Error(text)
	}
}

func TestWaitingFor(t *testing.T) {
	sglang := discover.Found{Title: "SGLang", Missing: "SGLang on :30000 does not expose metrics", Next: "start it with --enable-metrics"}
	vllm := discover.Found{Title: "vLLM", Model: "m", Endpoint: at(t, "127.0.0.1:8000"), Metrics: true}
	const still = "\nstill looking; or name one: llmtop http://HOST:PORT"
	for want, engines := range map[string][]discover.Found{
		"no engine found on this host" + still: nil,
		"no engine that can be read on this host" + still + "\nSGLang on :30000 does not expose metrics: start it with --enable-metrics":          {sglang},
		"waiting for the first sample\nvLLM m on http://127.0.0.1:8000\nSGLang on :30000 does not expose metrics: start it with --enable-metrics": {vllm, sglang},
	} {
		if got := waitingFor(discover.Report{Engines: engines}); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	if got := titleFor(discover.Report{Engines: []discover.Found{vllm, sglang}}); got != "http://127.0.0.1:8000" {
		t.Error(got)
	}
}

func TestLocalAddr(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:8000": "127.0.0.1:8000", "http://localhost:8000/a": "localhost:8000", "http://gpu-7:8000": "", "http://10.0.0.7:8000": "",
		"http://10.0.0.7:8000#netns=5": "10.0.0.7:8000#netns=5", "unix:/run/x.sock:/a": "unix:/run/x.sock", "": "",
	} {
		if got := localAddr(url); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}

// A Unix socket at which an engine was found may be of its user, of root or of this user.
func TestWhosePeer(t *testing.T) {
	found := peer(discover.Found{UID: 1000}, 501)
	for uid, want := range map[int]bool{0: true, 501: true, 1000: true, 1001: false, -1: false} {
		if found(uid) != want {
			t.Errorf("%d: got %v", uid, !want)
		}
	}
	if peer(discover.Found{UID: -1}, 501)(-1) {
		t.Error("nobody is trusted to be nobody")
	}
}

// A first look that time cut short did not see all engines: others follow, not for ever.
func TestSearchAfterAPartialLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := discover.Found{Title: "vLLM", Endpoint: at(t, "127.0.0.1:8000"), Metrics: true}
		two := discover.Found{Title: "TGI", Endpoint: at(t, "127.0.0.1:3000"), Metrics: true}
		for name, c := range map[string]struct {
			first    bool // the first look is cut short
			then     discover.Report
			attached int
			looked   int
		}{
			"whole":                     {false, discover.Report{Engines: []discover.Found{one, two}}, 1, 0},
			"cut short, then whole":     {true, discover.Report{Engines: []discover.Found{one, two}}, 2, 1},
			"cut short again and again": {true, discover.Report{Engines: []discover.Found{one}, Partial: true}, 1, partialMost},
		} {
			a := &attached{}
			s := newSearch(attachOptions{interval: time.Second, seen: &discover.Report{Engines: []discover.Found{one}, Partial: c.first}}, a)
			for _, target := range s.first() {
				a.early = append(a.early, a.engine(s.o, target)...)
			}
			var looked *int
			s.look, looked = script(c.then)
			for range 3 * partialMost {
				<-time.After(searchEvery)
				if _, err := s.Read(t.Context()); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if len(a.all()) != c.attached || *looked != c.looked {
				t.Errorf("%s: attached to %d, looked %d times, want %+v", name, len(a.all()), *looked, c)
			}
			for _, p := range a.early {
				closeAll(p.Probe)
			}
		}
	})
}

// An engine that was starting when another was found is attached to when it listens.
func TestSearchForOneThatStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := discover.Found{Title: "vLLM", Endpoint: at(t, "127.0.0.1:8000"), Metrics: true}
		two := discover.Found{Title: "vLLM", Endpoint: at(t, "127.0.0.1:8001"), Metrics: true}
		early := discover.Report{Engines: []discover.Found{one, {Title: "vLLM", PID: 7, Starting: true}}}
		a := &attached{}
		s := newSearch(attachOptions{interval: time.Second, seen: &early}, a)
		for _, target := range s.first() {
			a.early = append(a.early, a.engine(s.o, target)...)
		}
		var looked *int
		s.look, looked = script(early, discover.Report{Engines: []discover.Found{one, two}})
		for range 20 {
			<-time.After(searchEvery)
			if _, err := s.Read(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if len(a.all()) != 2 || *looked != 2 {
			t.Errorf("attached to %d, looked %d times", len(a.all()), *looked)
		}
		for _, p := range a.early {
			closeAll(p.Probe)
		}
	})
}
