package twin_test

import (
	"context"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/engine/twin"
	"llmtop/probes"
)

// samplesOf are all samples of a scenario.
func samplesOf(t *testing.T, text string) []*probes.Sample {
	t.Helper()
	sc, err := twin.Parse(strings.NewReader(text), "test")
	if err != nil {
		t.Fatal(err)
	}
	run, err := twin.New(sc)
	if err != nil {
		t.Fatal(err)
	}
	var all []*probes.Sample
	for {
		s, err := run.Next(context.Background())
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
}

// Knobs that stand for settings are turned in an engine that runs, which no real one can be: what
// it says of its settings stays as its process began, and tells nobody. A restart tells.
func TestSettingsStay(t *testing.T) {
	world := "gpu h100x2\nmodel llama-3-8b\nengine %s\ncpus 16\nworkload chat rate=6\nwarm 5s\nduration 100s\n"
	live := "at 20s kv_pool ×0.5\nat 20s token_budget 1024\nat 20s max_num_seqs 32\nat 20s graphs off\nat 20s graph_max 4\nat 20s prefix_caching off\nat 20s lora_slots 2\nat 20s kv_headroom 0.1\n"
	for _, name := range twin.Personalities {
		text := strings.Replace(world, "%s", name, 1)
		samples := samplesOf(t, text+live)
		for _, s := range samples {
			if !reflect.DeepEqual(s.Configs[0].Facts, samples[0].Configs[0].Facts) {
				t.Fatalf("%s: at %s the settings are %v, were %v", name, s.Mono, s.Configs[0].Facts, samples[0].Configs[0].Facts)
			}
			if i := slices.IndexFunc(s.Events, func(e probes.Event) bool { return e.Kind == probes.EventFlags }); i >= 0 {
				t.Fatalf("%s: at %s: %s", name, s.Mono, s.Events[i].Text)
			}
		}
		before, after := infoSeries(samples[5]), infoSeries(samples[len(samples)-1])
		if !slices.Equal(before, after) {
			t.Errorf("%s: the page said %v, then %v", name, before, after)
		}
	}
	flags := ""
	for _, s := range samplesOf(t, strings.Replace(world, "%s", "vllm", 1)+live+"at 20s load_time ×0.01\nat 20s restart\n") {
		for _, e := range s.Events {
			if e.Kind == probes.EventFlags {
				flags = e.Text
			}
		}
	}
	for _, want := range []string{"max_num_seqs 256 → 32", "max_num_batched_tokens 8192 → 1024", "prefix_caching on → off", "kv_cache_tokens", "graphs on → off"} {
		if !strings.Contains(flags, want) {
			t.Errorf("a restart tells %q, want %q in it", flags, want)
		}
	}
}

// infoSeries are the labels of a page's series that only have labels.
func infoSeries(s *probes.Sample) []string {
	var all []string
	for _, x := range s.Scrapes[0].Schema.Series {
		if strings.HasSuffix(x.Name, "_info") {
			text := x.Name
			for _, l := range x.Labels {
				text += " " + l.Name + "=" + l.Value
			}
			all = append(all, text)
		}
	}
	return all
}

// What a veil hides of samples is what a scenario hides that says without.
func TestVeil(t *testing.T) {
	world := "gpu h100x2\nmodel llama-3-8b\nreplicas 2\nengine vllm\ncpus 16\nworkload chat rate=6\nwarm 5s\nduration 40s\nat 12s replica0 restart\nat 20s power_cap 200W\nat 25s gpu1 xid 31\n"
	whole := samplesOf(t, world)
	for _, without := range twin.Sections {
		veil := twin.NewVeil(without)
		for i, want := range samplesOf(t, world+"without "+without+"\n") {
			if got := veil.Sample(whole[i]); !reflect.DeepEqual(got, want) {
				t.Fatalf("without %s, after %s: %+v, want %+v", without, want.Mono, got, want)
			}
			if whole[i].GPU == nil || whole[i].Host == nil || whole[i].Requests == nil || len(whole[i].Probes) < 8 {
				t.Fatalf("without %s: the original at %s was changed", without, time.Duration(i))
			}
		}
	}
}
