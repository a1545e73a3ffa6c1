package exposition

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"llmtop/engine"
	"llmtop/probes"
	"llmtop/probes/scrape"
)

// Our own engine's page has the families, labels and bounds that it has when it is modelled.
func TestOwnPageIsTheEnginesOwn(t *testing.T) {
	real := ownPage(t)
	info := sampleInfo()
	info.Context, info.Drafts = ownContext, 0
	l := newLife(9, info)
	p, err := New("llmtop", info)
	if err != nil {
		t.Fatal(err)
	}
	l.pages = []Page{p}
	for range 200 {
		l.step()
	}
	schema, _ := p.Scrape(l.now, &l.state)
	theirs, ours := shapes(real.Schema), shapes(schema)
	for name, want := range theirs {
		if got := ours[name]; got != want && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is\n%s\nmodelled as\n%s", name, want, got)
		}
	}
	for name := range ours {
		if theirs[name] == "" {
			t.Errorf("%s is not on the engine's page", name)
		}
	}
	if len(theirs) < 40 {
		t.Errorf("the engine has %d families", len(theirs))
	}
}

// shapes are the families of a page as text: their types, labels, bounds, and the values of
// labels that the engine itself gives.
func shapes(s *probes.Schema) map[string]string {
	types := map[probes.MetricType]string{probes.Counter: "counter", probes.Gauge: "gauge", probes.HistogramType: "histogram"}
	seen := map[string][]string{}
	out := map[string]string{}
	for _, x := range s.Series {
		for _, l := range x.Labels {
			part := l.Name
			if slices.Contains([]string{"le", "class", "stage", "reason", "finished_reason", "state", "source", "kind", "part", "work", "sleep_state"}, l.Name) {
				part += "=" + l.Value
			}
			if !slices.Contains(seen[x.Family], part) {
				seen[x.Family] = append(seen[x.Family], part)
			}
		}
		out[x.Family] = types[x.Type]
	}
	for name := range out {
		slices.Sort(seen[name])
		out[name] += " " + strings.Join(seen[name], " ")
	}
	return out
}

const ownContext = 700

// ownPage is the page of an engine that has answered one request.
func ownPage(t *testing.T) *probes.Scrape {
	t.Helper()
	e, err := engine.New(engine.Config{ModelName: "acme/llama-70b", Runner: echo{}, Tokenizer: bytewise{}, NumBlocks: 64})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error)
	go func() { over <- e.Run(ctx) }()
	ask := func(method, path, body string) string {
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	ask("POST", "/v1/completions", `{"prompt":"why","max_tokens":3}`)
	page := ask("GET", "/metrics", "")
	cancel()
	<-over
	return scrape.Parse([]byte(page))
}

// echo is a runner that always picks the same token.
type echo struct{}

func (echo) Shape() engine.Shape { return engine.Shape{Context: ownContext, Vocab: 256} }

func (echo) Run(batch []engine.Chunk) ([]engine.Result, error) {
	out := make([]engine.Result, len(batch))
	for i, c := range batch {
		if c.Sampler != nil {
			out[i].Tokens = []int{'a'}
		}
	}
	return out, nil
}

// bytewise takes each byte for a token.
type bytewise struct{}

func (bytewise) Encode(text string, _ bool) (ids []int) {
	for _, b := range []byte(text) {
		ids = append(ids, int(b))
	}
	return ids
}
func (bytewise) Begin() []int               { return nil }
func (bytewise) Bytes(id int) []byte        { return []byte{byte(id)} }
func (bytewise) IsStop(int) bool            { return false }
func (bytewise) NewDecoder() engine.Decoder { return bytewise{} }
func (bytewise) Push(id int) string         { return string(rune(id)) }
func (bytewise) Flush() string              { return "" }
