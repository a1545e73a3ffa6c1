package probes

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// told is a section: a version, then facts as "name=value@source".
func told(endpoint, version string, facts ...string) *EngineConfig {
	c := &EngineConfig{Endpoint: endpoint, Dialect: "vllm", Version: version}
	for _, f := range facts {
		name, rest, _ := strings.Cut(f, "=")
		value, source, _ := strings.Cut(rest, "@")
		c.Facts = append(c.Facts, Fact{Name: name, Value: value, Source: source})
	}
	return c
}

func TestWatcherSeesSettings(t *testing.T) {
	base := told("http://a", "0.11.0", "graphs=on@default", "max_model_len=8192@/v1/models", "max_num_seqs=256@--max-num-seqs", "model=m@command line")
	cases := []struct {
		name string
		now  *EngineConfig
		want string
	}{
		{"the same section", base, ""},
		{"the same again", told("http://a", "0.11.0", "graphs=on@default", "max_model_len=8192@/v1/models", "max_num_seqs=256@--max-num-seqs", "model=m@command line"), ""},
		{"a version", told("http://a", "0.12.1"), "engine-version vllm 0.11.0 → 0.12.1"},
		{"flags", told("http://a", "", "graphs=off@--enforce-eager", "max_num_seqs=128@--max-num-seqs", "model=m@command line"),
			"engine-flags graphs on → off, max_num_seqs 256 → 128"},
		{"both", told("http://a", "0.12.1", "max_num_seqs=128@--max-num-seqs", "model=m@command line"),
			"engine-version vllm 0.11.0 → 0.12.1; engine-flags max_num_seqs 256 → 128"},
		{"a page that failed", told("http://a", "0.11.0", "max_num_seqs=256@--max-num-seqs", "model=m@command line"), ""},
		{"a command line that could not be read", told("http://a", "0.11.0", "max_model_len=8192@/v1/models"), ""},
		{"a flag that is gone", told("http://a", "0.11.0", "model=m@command line"), "engine-flags max_num_seqs 256 → not set"},
		{"something new", told("http://a", "0.11.0", "role=prefill@--kv-transfer-config", "max_num_seqs=256@--max-num-seqs", "model=m@command line"), ""},
		{"another engine", told("http://b", "0.9"), ""},
		{"nothing", nil, ""},
	}
	for _, c := range cases {
		var w Watcher
		w.Events(&Sample{At: sec(0), Configs: []*EngineConfig{base}})
		s := &Sample{At: sec(1), Mono: time.Second}
		if c.now != nil {
			s.Configs = []*EngineConfig{c.now}
		}
		var got []string
		for _, e := range w.Events(s) {
			got = append(got, e.Kind+" "+e.Text)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSettingsAreRemembered: a fact that one reading missed is compared with the last one told.
func TestSettingsAreRemembered(t *testing.T) {
	var w configWatch
	text := ""
	for i, c := range []*EngineConfig{
		told("http://a", "1", "max_num_seqs=256@/props"), told("http://a", ""), told("http://a", "2", "max_num_seqs=64@/props"), told("http://a", "2", "max_num_seqs=64@/props"),
	} {
		for _, e := range w.events(&Sample{At: sec(float64(i)), Configs: []*EngineConfig{c, told("http://b", "7")}}) {
			text += fmt.Sprint(i, " ", e.Text, ". ")
		}
	}
	if want := "2 http://a: vllm 1 → 2. 2 http://a: max_num_seqs 256 → 64. "; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestWatchedSettingsAreBounded(t *testing.T) {
	var w configWatch
	for i := range 3 * maxConfigs {
		w.events(&Sample{Configs: []*EngineConfig{told(fmt.Sprint("http://", i), "1")}})
	}
	if len(w.seen) != maxConfigs {
		t.Errorf("%d are remembered", len(w.seen))
	}
	long := told("http://0", "2", "model="+strings.Repeat("x", 10_000)+"@/v1/models")
	w.events(&Sample{Configs: []*EngineConfig{long}})
	for _, e := range w.events(&Sample{Configs: []*EngineConfig{told("http://0", "2", "model=y@/v1/models")}}) {
		if len(e.Text) > maxConfigText+3 {
			t.Errorf("a text of %d bytes", len(e.Text))
		}
	}
}
