package rules

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/scrape"
	"llmtop/scripts/playtest"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// pageSignals are what a metrics page alone can tell.
var pageSignals = []string{
	"batch.running", "queue.depth", "kv.usage", "tokens.out.rate", "tokens.in.rate", "requests.rate", "errors.rate",
	"ttft.p50", "ttft.p95", "ttft.mean", "tpot.p50", "tpot.mean", "step.mean", "e2e.p95", "e2e.mean",
	"stage.frontend.mean", "stage.queue.mean", "stage.prefill.mean", "stage.decode.mean",
	"prefix.hit_ratio", "kv.preemption_rate", "spec.acceptance", "instance.count", "engine.age", "engine.stalled",
}

// playedFor is how long a page is watched: once a second, beyond the wide span, in which
// the gauges of an engine that counts at the end of requests become stale.
const playedFor = 33

// TestPlayedPages plays every page of testdata/expositions in five states and holds what
// the signals say at the end against a golden file: what an engine does not tell is
// absent with its reason, what stands still is stale, what began again is no drop.
func TestPlayedPages(t *testing.T) {
	files, _ := filepath.Glob("../testdata/expositions/*.prom")
	played := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".prom")
		if name == "hostile" {
			continue
		}
		played++
		t.Run(name, func(t *testing.T) {
			got := map[string]map[string]string{}
			for _, state := range []string{"idle", "loaded", "saturated", "restarted", "stale"} {
				got[state] = playedSignals(t, file, state)
			}
			comparePlayed(t, filepath.Join("testdata", "pages", name+".json"), got)
		})
	}
	if played < 10 {
		t.Errorf("only %d pages played", played)
	}
}

// playedSignals watches a page in a state. A restarted engine is looked at 8 s after it began anew.
func playedSignals(t *testing.T, file, state string) map[string]string {
	seconds := playedFor
	if state == "restarted" {
		seconds = 13
	}
	d, parser := NewDiagnoser(&Book{}, Options{}), scrape.NewParser(0)
	var tick *Tick
	for i := range seconds + 1 {
		s, _ := parser.Parse(playtest.At(t, file, state, float64(i)))
		s.At, s.Endpoint = at(float64(i)), "http://engine:8000"
		tick = d.Observe(&probes.Sample{Seq: uint64(i + 1), At: at(float64(i)), Mono: time.Duration(i) * time.Second, Interval: time.Second, Scrapes: []*probes.Scrape{s}})
	}
	out := map[string]string{"verdict": string(tick.Diagnosis.State)}
	for _, name := range pageSignals {
		row, ok := Lookup(name)
		if !ok {
			t.Fatalf("no signal %s", name)
		}
		if v, seen := tick.Signals.Get(name).Get(); seen {
			out[name] = tick.Bucket(name).Format(v, row.Unit)
		} else {
			out[name] = tick.Signals.Get(name).Why().String()
		}
	}
	return out
}

func comparePlayed(t *testing.T, path string, got any) {
	text, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, text, want)
	}
}
