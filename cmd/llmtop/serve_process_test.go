package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// served is `llmtop serve` as a process of its own.
type served struct {
	cmd    *exec.Cmd
	url    string
	stdout *bufio.Reader
	stdin  io.WriteCloser
	stderr bytes.Buffer // read after wait
}

// startServe starts it on a free port with further arguments; the test ends it.
func startServe(t testing.TB, args ...string) *served {
	t.Helper()
	s := &served{}
	s.start(t, &s.stderr, args...)
	return s
}

// start does it with another standard error.
func (s *served) start(t testing.TB, stderr io.Writer, args ...string) {
	t.Helper()
	link := programIn(t, t.TempDir())
	s.cmd = exec.Command(link, append([]string{"serve", "--addr", "127.0.0.1:0", "--threads", "1"}, args...)...)
	s.cmd.Stderr = stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	s.stdout = bufio.NewReader(stdout)
	line := s.line(t)
	at := strings.Index(line, "http://")
	if at < 0 {
		t.Fatalf("first line %q", line)
	}
	s.url, _, _ = strings.Cut(line[at:], " ")
}

// Whoever read the log may go: the engine serves on, counts the lines, and drains in the end.
func TestServesOnWithoutALogReader(t *testing.T) {
	for _, mode := range []string{"async", "sync"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		s := &served{}
		s.start(t, w, "--log", mode)
		w.Close()
		r.Close()
		for range 3 {
			answer, err := http.Post(s.url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"It was","max_tokens":2}`))
			if err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			answer.Body.Close()
		}
		s.cmd.Process.Signal(syscall.SIGTERM)
		if code, by := s.wait(t); code != 0 {
			t.Errorf("%s: status %d, signal %d", mode, code, by)
		}
	}
}

func (s *served) line(t testing.TB) string {
	t.Helper()
	line, err := s.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("%v after %q", err, line)
	}
	return line
}

// drains waits until the process tells that it waits for one request.
func (s *served) drains(t testing.TB) {
	t.Helper()
	for !strings.HasPrefix(s.line(t), "requests in flight: 1") {
	}
}

// stream begins a long streamed answer and returns it after its first event.
func (s *served) stream(t *testing.T) *bufio.Reader {
	t.Helper()
	r, err := http.Post(s.url+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"It was","max_tokens":1500,"ignore_eos":true,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })
	b := bufio.NewReader(r.Body)
	if line, err := b.ReadString('\n'); err != nil || !strings.HasPrefix(line, "data: ") {
		t.Fatalf("%q, %v", line, err)
	}
	return b
}

func (s *served) status(t *testing.T, path string) int {
	t.Helper()
	r, err := http.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	return r.StatusCode
}

// wait returns the exit status, or the signal that ended the process.
func (s *served) wait(t *testing.T) (code int, by syscall.Signal) {
	t.Helper()
	io.Copy(io.Discard, s.stdout)
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	status := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return -1, status.Signal()
	}
	return status.ExitStatus(), 0
}

// The first SIGTERM lets the answer in flight come to its end, meanwhile the process
// says that it is alive and takes nothing new; then it ends well.
func TestDrainOnSignal(t *testing.T) {
	s := startServe(t, "--drain-timeout", "10m") // a busy machine takes its time
	answer := s.stream(t)
	s.cmd.Process.Signal(syscall.SIGTERM)
	s.drains(t)
	if live, ready := s.status(t, "/health/live"), s.status(t, "/health"); live != 200 || ready != 503 {
		t.Errorf("live %d, ready %d", live, ready)
	}
	r, err := http.Post(s.url+"/v1/completions", "", strings.NewReader(`{"prompt":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("new request: %d, Retry-After %q", r.StatusCode, r.Header.Get("Retry-After"))
	}
	rest, err := io.ReadAll(answer)
	if err != nil || !strings.Contains(string(rest), `"finish_reason":"length"`) || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("%v, the answer ends with %.200q", err, string(rest[max(0, len(rest)-200):]))
	}
	if code, by := s.wait(t); code != 0 {
		t.Errorf("status %d, signal %d", code, by)
	}
	events := map[string]int{}
	for line := range strings.Lines(s.stderr.String()) {
		var v struct {
			Event  string
			Reason string `json:"finish_reason"`
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Errorf("%v in %q", err, line)
		}
		events[v.Event+v.Reason]++
	}
	if events["received"] != 1 || events["finishedlength"] != 1 || events["rejected"] != 1 {
		t.Errorf("the log tells %v", events)
	}
}

// A second signal ends it at once, and so does the time that draining may take.
func TestDrainIsCutShort(t *testing.T) {
	s := startServe(t, "--log", "off")
	s.stream(t)
	s.cmd.Process.Signal(syscall.SIGTERM)
	s.drains(t)
	s.cmd.Process.Signal(syscall.SIGTERM)
	if code, by := s.wait(t); by != syscall.SIGTERM {
		t.Errorf("status %d, signal %d", code, by)
	}

	s = startServe(t, "--drain-timeout", "0s", "--log", "off")
	answer := s.stream(t)
	s.cmd.Process.Signal(os.Interrupt)
	rest, _ := io.ReadAll(answer)
	if code, by := s.wait(t); code != 0 || strings.Contains(string(rest), `"finish_reason":"length"`) {
		t.Errorf("status %d, signal %d, the answer was finished", code, by)
	}
	if s.stderr.Len() > 0 {
		t.Errorf("stderr %s", &s.stderr)
	}
}

// A child of the demo ends with its parent, whatever it is doing.
func TestChildDoesNotDrain(t *testing.T) {
	s := startServe(t, "--with-parent", "--log", "off")
	answer := s.stream(t)
	s.stdin.Close()
	rest, _ := io.ReadAll(answer)
	if code, by := s.wait(t); code != 0 || strings.Contains(string(rest), `"finish_reason":"length"`) {
		t.Errorf("status %d, signal %d, the answer was finished", code, by)
	}
}

// The log file is the owner's alone and is appended to.
func TestLogFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	for range 2 {
		s := startServe(t, "--log-file", path, "--log", "sync")
		r, err := http.Post(s.url+"/v1/completions", "", strings.NewReader(`{"prompt":"x","max_tokens":2}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		s.cmd.Process.Signal(syscall.SIGTERM)
		if code, by := s.wait(t); code != 0 || s.stderr.Len() > 0 {
			t.Errorf("status %d, signal %d: %s", code, by, &s.stderr)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	b, err := os.ReadFile(path)
	if n := strings.Count(string(b), `"event":"finished"`); err != nil || n != 2 {
		t.Errorf("%v, %d requests in %s", err, n, b)
	}
}
