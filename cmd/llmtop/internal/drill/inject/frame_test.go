package inject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"llmtop/cmd/llmtop/internal/child"
	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/engine/load"
	"llmtop/probes"
	"llmtop/probes/record"
)

// TestMain lets the test binary act as a small llmtop: what a run starts are processes of
// its own file.
func TestMain(m *testing.M) {
	acts := map[string]func(context.Context, []string) error{"serve": fakeServe, "load": fakeLoad, "record": fakeRecord}
	if len(os.Args) < 2 || acts[os.Args[1]] == nil {
		os.Exit(m.Run())
	}
	ctx, cancel := context.WithCancel(context.Background())
	control := func(string) {}
	if os.Args[1] == "serve" {
		control = func(line string) { delay.Store(line == "slow") }
	}
	child.Parent(os.Stdin, control, cancel)
	if err := acts[os.Args[1]](ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var delay atomic.Bool // whether the fake engine is slow

// after is the value of a flag.
func after(args []string, flag string) string {
	for i := range len(args) - 1 {
		if args[i] == flag {
			return args[i+1]
		}
	}
	return ""
}

func fakeServe(ctx context.Context, args []string) error {
	if after(args, "--die") != "" {
		return errors.New("no such model")
	}
	l, err := net.Listen("tcp", after(args, "--addr"))
	if err != nil {
		return err
	}
	fmt.Printf("serving on http://%s (ctrl-c ends it)\n", l.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[{"id":"fake"}]}`) })
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		if delay.Load() {
			<-time.After(300 * time.Millisecond)
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
	s := &http.Server{Handler: mux}
	context.AfterFunc(ctx, func() { s.Close() })
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func fakeLoad(ctx context.Context, args []string) error {
	c := load.Config{URL: args[0]}
	fmt.Sscan(after(args, "--rate"), &c.Rate)
	f, err := os.Create(after(args, "--requests"))
	if err != nil {
		return err
	}
	defer f.Close()
	c.Ended = func(r load.Request) { json.NewEncoder(f).Encode(r) }
	_, err = load.Run(ctx, c)
	return err
}

func fakeRecord(ctx context.Context, args []string) error {
	w, err := record.Create(after(args, "-o"), record.Manifest{Interval: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	for n := uint64(1); ; n++ {
		select {
		case <-ctx.Done():
			return w.Close()
		case now := <-tick.C:
			w.Write(&probes.Sample{At: now, Seq: n})
		}
	}
}

// asked is an injector that notes what it is asked, and makes the fake engine slow.
type asked struct {
	calls   []string
	refuses error
	stop    context.CancelFunc // of the run, while it lasts
}

func (a *asked) Prepare(_ context.Context, s *Site) error {
	a.calls = append(a.calls, "prepare")
	s.Env = append(s.Env, "HARMLESS=1")
	return nil
}

func (a *asked) Route(_ context.Context, engine string) (string, error) {
	a.calls = append(a.calls, "route")
	return engine, nil
}

func (a *asked) Start(_ context.Context, s *Site) error {
	a.calls = append(a.calls, "start")
	if a.refuses != nil {
		return a.refuses
	}
	if a.stop != nil {
		a.stop()
	}
	return s.Engine.Say("slow")
}

func (a *asked) Stop() error {
	if !slices.Contains(a.calls, "stop") { // a second time is allowed
		a.calls = append(a.calls, "stop")
	}
	return nil
}

func (a *asked) Confirm() error { a.calls = append(a.calls, "confirm"); return nil }

// children are this process's that have not ended.
func children(t *testing.T) (pids []string) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(all) == 0 {
		t.Skipf("no /proc here: %v", err)
	}
	for _, path := range all {
		b, _ := os.ReadFile(path) // it may have ended
		_, rest, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == fmt.Sprint(os.Getpid()) {
			pids = append(pids, path)
		}
	}
	return pids
}

// frame runs a drill on the fake engine, with an injector that it returns.
func frame(t *testing.T, ctx context.Context, a *asked, cpu drill.OnCPU) (drill.Truth, error, string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	r := Runner{
		Log: t.Logf, Healthy: [2]time.Duration{time.Second, 1100 * time.Millisecond}, Warm: time.Millisecond, Tries: 1,
		make: func(name string, with map[string]string) (Injector, error) {
			if name != "asked" || with["how"] != "2 much" {
				t.Errorf("injector %s %v", name, with)
			}
			return a, nil
		},
	}
	cpu.Inject, cpu.With, cpu.Lasts = "asked", map[string]string{"how": "{x} much"}, drill.Duration(1500*time.Millisecond)
	cpu.Dial = &drill.Dial{From: 1, To: 9, Severe: 2}
	path := filepath.Join(t.TempDir(), "r.llmrec")
	inst := drill.Instance{Drill: &drill.Drill{ID: "lunch_cold", Kind: drill.Fault, Symptom: "ttft.p50", CPU: &cpu}, Engine: "cpu", Severity: drill.Severe, Seed: 7}
	truth, err := r.Run(ctx, inst, path)
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
	return truth, err, path
}

func TestFrame(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes some seconds of real time")
	}
	a := &asked{}
	truth, err, path := frame(t, t.Context(), a, drill.OnCPU{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(a.calls, " "); got != "prepare route start stop confirm" {
		t.Errorf("the injector was asked to %s", got)
	}
	if truth.Ratio < 3 || !truth.Counts() || truth.Strength != 2 || truth.Tries != 1 || truth.Expects[0] != "lunch" {
		t.Errorf("%+v, want a severe run that counts", truth)
	}
	if !truth.From.Before(truth.Onset) || !truth.Onset.Before(truth.To) {
		t.Errorf("from %s, onset %s, to %s", truth.From, truth.Onset, truth.To)
	}
	reader, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if info := reader.Info(); info.Samples < 5 || !info.CleanClose {
		t.Errorf("%+v, want a recording that was closed", info)
	}
	file, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(file), "lunch") {
		t.Errorf("the recording tells which drill it is of (%v)", err)
	}
}

func TestFrameThatCannot(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes some seconds of real time")
	}
	truth, err, path := frame(t, t.Context(), &asked{refuses: fmt.Errorf("a cgroup: %w", Lacking("needs root: a cgroup"))}, drill.OnCPU{})
	if err != nil || truth.Discard != "needs root: a cgroup" {
		t.Errorf("discard %q, %v, want what is lacking", truth.Discard, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a recording of nothing was left")
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err, _ := frame(t, ctx, &asked{stop: cancel}, drill.OnCPU{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was ended: %v", err)
	}
	if _, err, _ := frame(t, t.Context(), &asked{}, drill.OnCPU{Serve: []string{"--die", "now"}}); err == nil || !strings.Contains(err.Error(), "no such model") {
		t.Errorf("an engine that does not start: %v, want its words", err)
	}
}
