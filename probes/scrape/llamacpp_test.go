package scrape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"llmtop/probes"
)

// llamaServer is a llama.cpp server in process that keeps what it was asked.
type llamaServer struct {
	props, slots string
	page         string
	asked        []string
}

func (l *llamaServer) probe() *Probe {
	return New("http://gpu-7:8080", Options{Sleepers: true, Transport: inProcess(func(w http.ResponseWriter, r *http.Request) {
		l.asked = append(l.asked, r.URL.Path)
		body := map[string]string{"/metrics": l.page, "/props": l.props, "/slots": l.slots}[r.URL.Path]
		if body == "" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, body)
	})})
}

const llamaPage = "# TYPE llamacpp:requests_processing gauge\nllamacpp:requests_processing 1\n"

func (l *llamaServer) value(t *testing.T, s probes.Section, key string) (float64, bool) {
	t.Helper()
	scrape, ok := s.(*probes.Scrape)
	if !ok {
		t.Fatalf("no scrape: %v", s)
	}
	for i := range scrape.Schema.Series {
		if scrape.Schema.Series[i].Key() == key {
			return scrape.Values[i], true
		}
	}
	return 0, false
}

func TestSlots(t *testing.T) {
	l := &llamaServer{page: llamaPage, props: `{"build_info":"b10600-abc"}`,
		slots: `[{"id":0,"n_ctx":4096,"is_processing":true,"n_prompt_tokens":1000,"prompt":"GEHEIM","next_token":[{"n_decoded":24}]},
			{"id":1,"n_ctx":4096,"is_processing":false,"n_prompt_tokens":3000,"next_token":{"n_decoded":7}}]`}
	p := l.probe()
	defer p.Close()
	first, err := p.Read(context.Background())
	if _, told := l.value(t, first, "llamacpp:slot_count"); err != nil || told {
		t.Errorf("the first page: %v, slots %v", err, told)
	}
	var shapes []*probes.Schema
	for range 2 {
		s, err := p.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]float64{"llamacpp:requests_processing": 1, "llamacpp:slot_count": 2, `llamacpp:slot_n_ctx{slot="0"}`: 4096,
			`llamacpp:slot_n_tokens{slot="0"}`: 1024, `llamacpp:slot_n_tokens{slot="1"}`: 0} {
			if got, told := l.value(t, s, key); got != want || !told {
				t.Errorf("%s: got %v (%v), want %v", key, got, told, want)
			}
		}
		shapes = append(shapes, s.(*probes.Scrape).Schema)
		if text, _ := json.Marshal(s.(*probes.Scrape).Schema); strings.Contains(string(text), "GEHEIM") {
			t.Error("a prompt is in the section")
		}
	}
	if shapes[0] != shapes[1] {
		t.Error("the page's shape changes from scrape to scrape")
	}
	props := slices.DeleteFunc(slices.Clone(l.asked), func(path string) bool { return path != "/props" })
	if len(props) != 2 { // by the first look, and once it is known to be llama.cpp
		t.Errorf("a build that never sleeps was asked %d times whether it does", len(props))
	}
}

// A sleeping server is not woken: before b10519 not even its metrics are asked for.
func TestSleepingServerIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		name, props string
		metrics     bool
	}{
		{"awake", `{"build_info":"b8000-abc","is_sleeping":false}`, true},
		{"asleep, wakes for its metrics", `{"build_info":"b8000-abc","is_sleeping":true}`, false},
		{"asleep, sleeps on", `{"build_info":"b10519-abc","is_sleeping":true}`, true},
		{"asleep, build unknown", `{"is_sleeping":true}`, false},
		{"tells nothing", "", true},
		{"tells nonsense", "[]", true},
	} {
		l := &llamaServer{page: llamaPage, slots: `[{"n_ctx":10}]`}
		p := l.probe()
		if _, err := p.Read(context.Background()); err != nil {
			t.Fatal(err)
		}
		l.props, l.asked = c.props, nil
		_, err := p.Read(context.Background())
		if slices.Contains(l.asked, "/metrics") != c.metrics || errors.Is(err, errAsleep) == c.metrics {
			t.Errorf("%s: asked %v, %v", c.name, l.asked, err)
		}
		if asleep := strings.HasPrefix(c.name, "asleep"); slices.Contains(l.asked, "/slots") == asleep {
			t.Errorf("%s: asked %v", c.name, l.asked)
		}
		p.Close()

		l.asked = nil
		p = l.probe()
		for range 2 {
			p.Read(context.Background())
		}
		if slices.Contains(l.asked, "/metrics") != c.metrics {
			t.Errorf("%s, never seen before: asked %v", c.name, l.asked)
		}
		p.Close()
	}
}

// Slots that are not there, or no slots, leave the page as it is; another engine in its
// place is no llama.cpp any more.
func TestPagesWithoutSlots(t *testing.T) {
	for _, slots := range []string{"", "{}", "[]", `[{"n_ctx":0}]`, `[{"n_ctx":"x"}]`, `"GEHEIM"`, "[" + strings.Repeat(`{"n_ctx":1},`, maxSlots) + `{"n_ctx":1}]`} {
		l := &llamaServer{page: llamaPage, slots: slots}
		p := l.probe()
		for range 3 {
			s, err := p.Read(context.Background())
			if _, told := l.value(t, s, "llamacpp:slot_count"); err != nil || told {
				t.Errorf("%.20s: %v, slots %v", slots, err, told)
			}
		}
		if n := len(slices.DeleteFunc(l.asked, func(path string) bool { return path != "/slots" })); slots == "" && n != 1 {
			t.Errorf("a server without /slots was asked %d times", n)
		}
		l.page, l.asked = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1\n", nil
		p.Read(context.Background())
		l.asked = nil
		if p.Read(context.Background()); slices.Contains(l.asked, "/props") {
			t.Errorf("another engine is asked %v", l.asked)
		}
		p.Close()
	}
}

func FuzzSlots(f *testing.F) {
	f.Add([]byte(`[{"n_ctx":4096,"is_processing":true,"n_prompt_tokens":1000,"next_token":[{"n_decoded":24}]}]`))
	f.Add([]byte(`[{"n_ctx":1,"is_processing":true,"n_prompt_tokens":-5,"next_token":{"n_decoded":-1}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var slots []slot
		if json.Unmarshal(text, &slots) != nil {
			return
		}
		for i := range slots {
			if v := slots[i].tokens(); v < 0 || v > float64(max(0, slots[i].Context)) {
				t.Fatalf("%v tokens in %d", v, slots[i].Context)
			}
		}
	})
}
