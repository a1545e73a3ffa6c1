package twin

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

func parseText(text string) (Scenario, error) {
	return parse(strings.NewReader(text), "x.scenario", noTrace)
}

const small = "gpu l4\nmodel llama-3-8b int4\nworkload chat rate=1\n"

func TestParse(t *testing.T) {
	s, err := parseText(`# what a file may say
gpu h100x8
model llama-3-70b fp8 kv=fp8   # weights and cache
tp 2
pp 2
router prefix
disaggregate 1
engine sglang max_num_seqs=300 token_budget=4096 block=32 drafts=3 headroom=0.05 max_queue=unlimited prefix_caching=off
cpus 64
workload chat rate=12
workload agent rate=2/s think=5s
seed 18446744073709551615
spread 0.2
duration 5m
interval 500ms
start 2026-03-01T12:00:00+01:00
without profile, gpu
at 60s gpu0 power_cap 400W
at 30s kv_pool x0.3
`)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(s.Name, s.GPU.Name, s.GPUs, s.Model.Name, s.Weights, s.KV, s.TP, s.PP, s.Replicas, s.Prefills, s.Router, s.Personality,
		s.Limits.MaxNumSeqs, s.Limits.MaxBatchedTokens, s.Limits.Drafts, s.Limits.Headroom, s.BlockSize, s.MaxQueue, s.NoPrefix, s.CPUs,
		len(s.Workload.Streams), s.Workload.MeanRate(), s.Seed, s.Spread, s.Workload.Spread, s.Duration, s.Interval, s.Start.UTC().Format(time.RFC3339), s.Without,
		s.Timeline[0].At, s.Timeline[0].Change, s.Timeline[0].Line, s.Timeline[1].Change)
	want := fmt.Sprintln("x", "h100", 8, "llama-3-70b", "fp8", "fp8", 2, 2, 2, 1, "prefix", "sglang",
		300, 4096, 3, 0.05, 32, -1, true, 64,
		2, 14.0, uint64(18446744073709551615), 0.2, 0.2, 5*time.Minute, 500*time.Millisecond, "2026-03-01T11:00:00Z", []string{"profile", "gpu"},
		30*time.Second, "kv_pool ×0.3", 19, "gpu0 power_cap 400W")
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What is not said follows from what is.
func TestDefaults(t *testing.T) {
	for text, want := range map[string]string{
		"gpu h100x8\nmodel llama-3-70b\nworkload chat rate=1":                          "tp 8 pp 1 replicas 1 112",
		"gpu h100x8\nmodel llama-3-70b\ntp 4\nworkload chat rate=1":                    "tp 4 pp 1 replicas 2 112",
		"gpu h100x8\nmodel llama-3-70b\nreplicas 2\nworkload chat rate=1":              "tp 4 pp 1 replicas 2 112",
		"gpu h100x8\nmodel llama-3-70b\npp 2\nworkload chat rate=1":                    "tp 4 pp 2 replicas 1 112",
		"\ufeffgpu h100 ×8\r\nmodel llama-3-70b\r\n\r\nrate 1\r\n":                     "tp 8 pp 1 replicas 1 112",
		"linear base=4ms decode=1ms\nengine llmtop blocks=512\nworkload chat rate=0.5": "tp 1 pp 1 replicas 1 8",
	} {
		s, err := parseText(text)
		if got := fmt.Sprintf("tp %d pp %d replicas %d %d", s.TP, s.PP, s.Replicas, s.CPUs); err != nil || got != want {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		}
	}
}

// What goes back, comes again or comes step by step is written out in the order of time.
func TestTimeline(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"at 60s for 30s rate ×3"}, "1m0s rate ×3, 1m30s rate reset"},
		{[]string{"at 60s for 30s rate ×3", "at 10s rate ×2"}, "10s rate ×2, 1m0s rate ×3, 1m30s rate ×2"},
		{[]string{"at 1s every 4m for 10s cpu_neighbour 4cores"}, "1s cpu_neighbour 4cores, 11s cpu_neighbour reset, 4m1s cpu_neighbour 4cores, 4m11s cpu_neighbour reset, 8m1s cpu_neighbour 4cores, 8m11s cpu_neighbour reset"},
		{[]string{"at 1m every 5m restart"}, "1m0s restart, 6m0s restart"},
		{[]string{"at 10s replica1 kernel ×0.5", "at 20s for 10s kernel ×0.9"}, "10s replica1 kernel ×0.5, 20s kernel ×0.9, 30s replica0 kernel reset, 30s replica1 kernel ×0.5"},
		{[]string{"at 10s for 10s replica1 kernel ×0.5", "at 12s for 1s replica0 kernel ×0.9"}, "10s replica1 kernel ×0.5, 12s replica0 kernel ×0.9, 13s replica0 kernel reset, 20s replica1 kernel reset"},
		{[]string{"at 10s graphs off", "at 20s for 5s graphs off"}, "10s graphs off, 20s graphs off, 25s graphs off"},
	} {
		s, err := parseText("gpu h100x2\nmodel llama-3-8b\nreplicas 2\nworkload chat rate=1\n" + strings.Join(c.lines, "\n"))
		var got []string
		for _, e := range s.Timeline {
			got = append(got, e.At.String()+" "+e.Change.String())
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%q: got %s, %v\nwant %s", c.lines, strings.Join(got, ", "), err, c.want)
		}
	}
}

// A ramp begins at what is and ends at what was asked for.
func TestRamp(t *testing.T) {
	events, err := ParseTurns([]string{"30s inlet 20C", "1m over 5m inlet 35C", "8m over 1m rate ×2"}, 4, 2, 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	board := knob.NewBoard(4, 2)
	last, at := 20.0, time.Duration(0)
	for _, e := range events {
		if e.At < at {
			t.Fatalf("%s comes after %s", e.At, at)
		}
		at = e.At
		if err := board.Apply(e.Change); err != nil {
			t.Fatal(err)
		}
		if v := board.At(knob.Inlet, 3); e.Change.Knob == knob.Inlet && (v < last || v > last+0.51) {
			t.Errorf("at %s the inlet goes from %g to %g", e.At, last, v)
		} else if e.Change.Knob == knob.Inlet {
			last = v
		}
	}
	if last != 35 || board.Value(knob.Rate) != 2 || at != 9*time.Minute || len(events) != 1+2*(rampSteps+1) {
		t.Errorf("at the end %g °C and ×%g at %s after %d events", last, board.Value(knob.Rate), at, len(events))
	}
}

// Everything that is wrong is said in one line with its file and line. Read the golden file's diff.
func TestErrors(t *testing.T) {
	bad, err := os.ReadFile("testdata/bad.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, text := range strings.Split(strings.TrimSpace(string(bad)), "\n--\n") {
		_, err := parseText(strings.ReplaceAll(text, "SMALL", strings.TrimSpace(small)))
		if err == nil {
			t.Errorf("accepted:\n%s", text)
			continue
		}
		if strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 420 || !strings.HasPrefix(err.Error(), "x.scenario:") {
			t.Errorf("%d: no clear line: %q", i, err)
		}
		fmt.Fprintf(&out, "%s\n  %v\n", strings.ReplaceAll(text, "\n", " | "), err)
	}
	golden(t, "testdata/errors.golden", out.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update and read the diff):\n%s", path, got)
	}
}

func TestHugeAndBinary(t *testing.T) {
	for name, text := range map[string]string{
		"longer than 1048576 bytes": strings.Repeat("# nothing\n", 200_000),
		"longer than 4096 bytes":    small + "# " + strings.Repeat("x", 5000),
		"this is no text":           "gpu \x00\x01",
		"no text":                   "gpu \xff\xfe",
		"on which GPUs":             "",
		"more than 20000 changes":   small + "duration 24h\n" + manyLines(21_000),
		"20000 changes in all":      small + "duration 24h\nat 0s every 1s for 500ms rate ×2\n",
	} {
		if _, err := parseText(text); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The largest timelines are written out in no time; a benchmark says how long it takes.
func BenchmarkTimeline(b *testing.B) {
	var text strings.Builder
	text.WriteString("gpu h100x64\nmodel llama-3-8b\ntp 1\nrate 1\nduration 700h\ninterval 10s\n")
	for n := range 64 {
		for _, k := range []string{"cooling", "compute", "bandwidth", "nvlink"} {
			fmt.Fprintf(&text, "at 1s over 699h gpu%d %s ×0.5\n", n, k)
		}
		for _, k := range []string{"kernel ×2", "tokenizer ×2", "compile ×2", "sampling ×2", "graphs off", "log_line 1ms"} {
			fmt.Fprintf(&text, "at %ds every 20h for 10h replica%d %s\n", n+1, n, k)
		}
	}
	for b.Loop() {
		if s, err := parseText(text.String()); err != nil || len(s.Timeline) < 30_000 {
			b.Fatal(len(s.Timeline), err)
		}
	}
}

// manyLines are changes of a GPU's clock, one a second, in few bytes each.
func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "at %ds xid 1\n", i)
	}
	return b.String()
}

// Traces are found beside the scenario, and only files are read.
func TestTraceOfScenario(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("day.csv", "arrival_seconds,prompt_tokens,output_tokens\n0,100,10\n2.5,100,10\n")
	write("bad.csv", "arrival_seconds,prompt_tokens,output_tokens\n0,0,10\n")
	for file, want := range map[string]string{
		"day.csv ×2": "", "./day.csv": "",
		"bad.csv":     "bad.csv:2: prompt_tokens \"0\": must be a whole number from 1",
		"none.csv":    "there is no file",
		".":           "is no file",
		"day.csv 2":   "write ×2",
		"day.csv ×0":  "from 0.001 to 1000",
		"day.csv a b": "3 words",
	} {
		path := write("t.scenario", "gpu l4\nmodel llama-3-8b int4\ntrace "+file+"\n")
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(f, path)
		f.Close()
		switch {
		case want == "" && (err != nil || len(s.Workload.Trace.Rows) != 2):
			t.Errorf("%s: %v", file, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+":3: ")):
			t.Errorf("%s: got %v, want %s", file, err, want)
		}
	}
}

func TestExamples(t *testing.T) {
	names := Examples()
	if len(names) < 8 {
		t.Errorf("only %d scenarios come along", len(names))
	}
	for _, name := range names {
		s, err := ParseExample(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Name != name {
			t.Errorf("%s calls itself %s", name, s.Name)
		}
		if _, err := workload.New(s.Workload, s.Seed, knob.NewBoard(s.GPUs, s.Replicas)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.IsSortedFunc(s.Timeline, func(a, b Event) int { return int(a.At - b.At) }) {
			t.Errorf("%s: its changes are not in order", name)
		}
	}
	if _, err := ParseExample("chta"); err == nil || !strings.Contains(err.Error(), "did you mean chat?") {
		t.Errorf("got %v", err)
	}
}

// Each statement's example is one.
func TestStatementExamples(t *testing.T) {
	for _, s := range Statements() {
		var err error
		switch s.Name {
		case "trace":
			continue // TestTraceOfScenario
		case "linear":
			_, err = parseText(s.Example + "\nengine vllm blocks=512\nrate 1")
		case "workload", "rate":
			_, err = parseText("gpu l4\nmodel llama-3-8b int4\n" + s.Example)
		case "gpu", "model":
			_, err = parseText("gpu h100x8\nmodel llama-3-70b fp8 kv=fp8\nrate 1")
		default:
			_, err = parseText("gpu h100x8\nmodel llama-3-70b\n" + map[bool]string{true: "tp 2\n"}[s.Name == "disaggregate"] + "rate 1\n" + s.Example)
		}
		if err != nil {
			t.Errorf("%s: %v", s.Example, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range Examples() {
		text, err := Example(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	bad, err := os.ReadFile("testdata/bad.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range strings.Split(string(bad), "\n--\n") {
		f.Add(strings.ReplaceAll(text, "SMALL", small))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseText(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.scenario:") || strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("no clear line: %q", err)
			}
			return
		}
		if s.TP*s.PP*s.Replicas != s.GPUs && s.Linear == nil || s.Duration <= 0 || s.Interval <= 0 {
			t.Errorf("accepted: %+v", s)
		}
		board := knob.NewBoard(s.GPUs, s.Replicas)
		for _, e := range s.Timeline {
			if err := board.Apply(e.Change); err != nil {
				t.Errorf("%v", err)
			}
		}
		source, err := workload.New(s.Workload, s.Seed, board)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if at, ok := source.Due(); !ok || at < 0 {
			t.Errorf("no first request: %s, %v", at, ok)
		}
	})
}
