package drill

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/engine/twin/knob"
	"llmtop/probes"
	"llmtop/probes/record"
)

// small is a world that costs little.
func small() *World {
	return &World{
		Name: "small-world", Suite: "train", Workload: "chat", Load: 0.2,
		Lines: []string{"gpu h100x2", "model llama-3-8b", "tp 2", "engine vllm max_num_seqs=64", "cpus 16"},
	}
}

// slowed is a drill whose first try is too weak.
func slowed() Instance {
	d := &Drill{
		ID: "kernel-fallback_sudden", Kind: Fault, Story: "Somebody takes the fast kernels away", Symptom: "tpot.p50",
		Expects: []string{"kernel-fallback"}, SeenBy: []string{"gpu"}, Stage: "decode",
		Twin: &OnTwin{
			Turns: []string{"kernel ×{x}"}, Lasts: Duration(45 * time.Second), Confirm: []Confirm{{Signal: "step.mean", Rises: 1.1}},
			Dial: &Dial{From: 1, To: 0.05, Mild: 0.95, Medium: 0.4, Severe: 0.2},
		},
	}
	return Instance{Drill: d, World: small(), Engine: "twin", Severity: Mild, Seed: 3}
}

// long leaves out what runs for long on one goroutine under the race detector.
func long(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("simulations on one goroutine have no races, and take long")
	}
}

// run runs an instance with recordings in a folder of the test.
func run(t *testing.T, i Instance, missing ...string) (Truth, []Recording) {
	t.Helper()
	dir := t.TempDir()
	files := []Recording{{Path: filepath.Join(dir, "0.llmrec")}}
	for n, m := range missing {
		files = append(files, Recording{Path: filepath.Join(dir, fmt.Sprint(n+1)+".llmrec"), Missing: []string{m}})
	}
	truth, err := RunTwin(context.Background(), i, files[0].Path, files[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return truth, files
}

// A fault that was too weak is made stronger until it lies in its band; the same instance makes
// the same truth and the same bytes.
func TestRunTwin(t *testing.T) {
	long(t)
	i := slowed()
	truth, files := run(t, i)
	if !truth.Counts() || truth.Tries < 2 || truth.Strength >= i.Drill.Twin.Dial.Mild {
		t.Errorf("%+v", truth)
	}
	if low, high := Mild.Band(); truth.Ratio < low || truth.Ratio >= high || truth.Ratio != truth.During/truth.Before {
		t.Errorf("ratio %v of %v and %v", truth.Ratio, truth.Before, truth.During)
	}
	if len(truth.Confirmed) != 1 || !truth.Confirmed[0].Holds || truth.Confirmed[0].Before > truth.Confirmed[0].During {
		t.Errorf("confirmed %+v", truth.Confirmed)
	}
	if at := truth.Onset.Sub(truth.From); at < onsetFrom || at >= onsetTo {
		t.Errorf("the onset is after %s", at)
	}
	again, same := run(t, i)
	if !reflect.DeepEqual(truth, again) {
		t.Errorf("the truth was %+v, then %+v", truth, again)
	}
	if a, b := content(t, files[0]), content(t, same[0]); !bytes.Equal(a, b) {
		t.Errorf("%d bytes and %d are not the same", len(a), len(b))
	}
	i.Seed++
	if other, _ := run(t, i); other.Onset.Equal(truth.Onset) || other.Before == truth.Before {
		t.Error("another seed makes the same run")
	}
}

func content(t *testing.T, r Recording) []byte {
	t.Helper()
	text, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What does not come into its band, or is not confirmed, does not count.
func TestRunDiscards(t *testing.T) {
	long(t)
	for _, c := range []struct {
		name   string
		change func(*Instance)
		want   string
	}{
		{"too weak", func(i *Instance) { i.Drill.Twin.Dial = &Dial{From: 1, To: 0.97, Mild: 0.98} }, "tpot.p50 grew"},
		{"not confirmed", func(i *Instance) {
			i.Severity, i.Drill.Twin.Confirm = Medium, []Confirm{{Signal: "kv.usage", Least: 0.9}}
		}, "not confirmed: kv.usage was"},
		{"nobody tells", func(i *Instance) {
			i.Severity, i.Drill.Twin.Confirm = Medium, []Confirm{{Signal: "spec.acceptance", Least: 0.1}}
		}, "nobody tells of spec.acceptance"},
		{"nothing ends", func(i *Instance) {
			i.World.Workload, i.Drill.Twin.Load = "chat output=20000", 0.05
		}, "too few"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := slowed()
			c.change(&i)
			truth, files := run(t, i)
			if truth.Counts() || !strings.Contains(truth.Discard, c.want) {
				t.Errorf("%q, want %q", truth.Discard, c.want)
			}
			if len(content(t, files[0])) == 0 {
				t.Error("there is no recording of it")
			}
		})
	}
}

// Notes are not sought in a band.
func TestRunNote(t *testing.T) {
	long(t)
	i := slowed()
	i.Drill.Kind, i.Drill.Twin.Turns = Note, []string{"rate ×0.3"}
	i.Drill.Twin.Dial, i.Severity, i.Drill.Twin.Confirm = nil, Severe, []Confirm{{Signal: "arrivals.rate", Falls: 0.7}}
	if truth, _ := run(t, i); !truth.Counts() || truth.Tries != 1 || truth.Ratio >= 1.3 {
		t.Errorf("%+v", truth)
	}
}

// The recording tells nothing of the drill: not what it is called, not what was turned.
func TestNoTrace(t *testing.T) {
	long(t)
	i := slowed()
	_, files := run(t, i)
	text := strings.ToLower(everything(t, files[0]))
	for _, w := range []string{i.Drill.ID, "fallback", "sudden", "drill", "somebody", i.World.Name, "small", "onset", "severity", string(i.Severity)} {
		if at := strings.Index(text, w); at >= 0 {
			t.Errorf("%q is in the recording: …%s…", w, text[max(0, at-60):min(len(text), at+60)])
		}
	}
	// Names of knobs are words of pages, too: no more of them than when nothing happens.
	i.Drill.Kind, i.Drill.Twin.Turns, i.Drill.Twin.Dial = Note, []string{"kernel ×1"}, nil
	_, calm := run(t, i)
	quiet := strings.ToLower(everything(t, calm[0]))
	for id := range knob.NumKnobs {
		if name := knob.Table[id].Name; strings.Contains(text, name) && !strings.Contains(quiet, name) {
			t.Errorf("%s is in the recording", name)
		}
	}
	for _, w := range []string{"llama-3-8b", "vllm:num_requests_running", "h100"} { // it was looked for in the right place
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in the recording", w)
		}
	}
	if strings.Contains(files[0].Path, i.Drill.ID) {
		t.Errorf("the file is called %s", files[0].Path)
	}
}

// everything is all that a recording holds, as text.
func everything(t *testing.T, file Recording) string {
	t.Helper()
	r, err := record.Open(file.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b strings.Builder
	write := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	write(r.Info())
	var profile *probes.Profile
	for e, err := range r.Entries(context.Background(), 0, r.Len()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Sample == nil {
			t.Fatalf("more than samples: %+v", e)
		}
		write(e.Sample)
		for _, s := range e.Sample.Scrapes {
			write(s.Schema)
		}
		if p := e.Sample.Profile; p != nil && p != profile {
			profile = p
			z, err := gzip.NewReader(bytes.NewReader(p.Raw))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(&b, z); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.String()
}

// Recordings with sources left out are of the same run and lack these sources alone.
func TestVariants(t *testing.T) {
	long(t)
	i := slowed()
	i.Severity = Medium
	var missing []string
	for _, m := range i.Variants() {
		missing = append(missing, m...)
	}
	truth, files := run(t, i, missing...)
	whole := samples(t, files[0])
	for n, m := range missing {
		if of := truth.Of(files[n+1]); !slices.Equal(of.Missing, []string{m}) || !of.Onset.Equal(truth.Onset) {
			t.Errorf("without %s: %+v", m, of)
		}
		left := samples(t, files[n+1])
		if len(left) != len(whole) {
			t.Fatalf("without %s: %d samples of %d", m, len(left), len(whole))
		}
		for k, s := range left {
			w := whole[k]
			has := map[string]bool{"gpu": s.GPU != nil, "host": s.Host != nil || s.Process != nil || s.Sockets != nil || s.Neighbours != nil, "stages": s.Requests != nil, "profile": s.Profile != nil}
			had := map[string]bool{"gpu": w.GPU != nil, "host": w.Host != nil, "stages": w.Requests != nil, "profile": w.Profile != nil}
			for source := range had {
				if has[source] != (had[source] && source != m) {
					t.Fatalf("without %s: %s is there: %t, was: %t", m, source, has[source], had[source])
				}
			}
			if !s.At.Equal(w.At) || !reflect.DeepEqual(s.Scrapes[0].Values, w.Scrapes[0].Values) {
				t.Fatalf("without %s: another run at %s", m, s.Mono)
			}
		}
	}
	if len(missing) == 0 || truth.Missing != nil {
		t.Errorf("%v are left out of further ones, %v of the first", missing, truth.Missing)
	}
	i.Severity = Severe
	if v := i.Variants(); v != nil {
		t.Errorf("the severe one has variants %v", v)
	}
}

func samples(t *testing.T, file Recording) []*probes.Sample {
	t.Helper()
	r, err := record.Open(file.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []*probes.Sample
	for {
		s, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
}

// A control is healthy for as long as its file says; one that does harm is none, unless it says so.
func TestControl(t *testing.T) {
	long(t)
	control := func(turns ...string) Instance {
		d := &Drill{ID: "control_x", Kind: Healthy, Story: "Nothing", Twin: &OnTwin{Turns: turns, Lasts: Duration(6 * time.Minute), Lines: []string{"interval 2s"}}}
		return Instance{Drill: d, World: small(), Engine: "twin", Seed: 1}
	}
	truth, files := run(t, control("+30s cpu_neighbour 1cores"))
	if !truth.Counts() || !truth.Onset.IsZero() || truth.To.Sub(truth.From) != 6*time.Minute || truth.Ratio < 0.9 || truth.Ratio > 1.1 {
		t.Errorf("%+v", truth)
	}
	if n := len(samples(t, files[0])); n != 180 {
		t.Errorf("%d samples", n)
	}
	if truth, _ := run(t, control("+30s kernel ×0.4")); truth.Counts() || !strings.Contains(truth.Discard, "does harm: ") {
		t.Errorf("%+v", truth)
	}
	i := control("+30s load_time ×0.3", "+31s restart")
	if truth, _ := run(t, i); truth.Counts() || !strings.Contains(truth.Discard, "requests failed") {
		t.Errorf("%+v", truth)
	}
	i.Drill.Allows = []string{"engine-restarted", "cold-start"}
	if truth, _ := run(t, i); !truth.Counts() {
		t.Errorf("%+v", truth)
	}
}

// Nothing is left of a run that cannot be, or is interrupted.
func TestRunLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "1.llmrec")
	i := slowed()
	i.World.Lines[0] = "gpu h100x3"
	if _, err := RunTwin(context.Background(), i, path); err == nil || !strings.Contains(err.Error(), "drill kernel-fallback_sudden in world small-world") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, kind := range []Kind{Fault, Healthy} {
		i := slowed()
		i.Drill.Kind, i.Drill.Twin.Turns = kind, nil
		if _, err := RunTwin(ctx, i, path); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

// Whatever takes longer, results come in the order of the instances, each with its own files.
func TestRunAll(t *testing.T) {
	long(t)
	var all []Instance
	for n := range 4 {
		i := slowed()
		i.Severity, i.Seed = Medium, uint64(n)
		i.Drill.Twin.Dial.Fixed = true
		i.Drill.Twin.Lasts = Duration(time.Duration(60-15*n) * time.Second)
		all = append(all, i)
	}
	dir := t.TempDir()
	n := 0
	err := RunAll(context.Background(), all, dir, func(*Instance) [][]string { return [][]string{{"gpu"}} }, func(truth Truth, files []Recording) error {
		if truth.Seed != all[n].Seed || len(files) != 2 {
			t.Errorf("result %d is of seed %d, with %d files", n, truth.Seed, len(files))
		}
		n++
		for _, f := range files {
			if strings.Contains(filepath.Base(f.Path), "kernel") {
				t.Errorf("a file is called %s", f.Path)
			}
			if err := os.Remove(f.Path); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	if err != nil || n != len(all) {
		t.Errorf("%d results, %v", n, err)
	}
	enough := errors.New("enough")
	err = RunAll(context.Background(), all, dir, nil, func(_ Truth, files []Recording) error {
		os.Remove(files[0].Path)
		return enough
	})
	if !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	all[1].World.Lines[0] = "gpu h100x3"
	err = RunAll(context.Background(), all, dir, nil, func(_ Truth, files []Recording) error { return os.Remove(files[0].Path) })
	if err == nil || !strings.Contains(err.Error(), "drill kernel-fallback_sudden, medium, seed 1") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
}
