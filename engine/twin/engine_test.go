package twin

import (
	"cmp"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
)

// slowRunner computes the steps of the real engine in the time that a cost model says.
type slowRunner struct {
	model      cost.Model
	conditions cost.Conditions
	steps      int
	token      int
	results    []engine.Result
}

func (r *slowRunner) Shape() engine.Shape { return engine.Shape{Context: 1 << 20, Vocab: vocabulary} }

func (r *slowRunner) Run(batch []engine.Chunk) ([]engine.Result, error) {
	r.steps++
	var w cost.Work
	r.results = r.results[:0]
	for _, c := range batch {
		w.PrefillTokens += len(c.Tokens) // the model takes all tokens alike
		var out engine.Result
		if c.Sampler != nil {
			r.token++
			out.Tokens = []int{r.token % vocabulary}
		}
		r.results = append(r.results, out)
	}
	time.Sleep(r.model.Step(&w, &r.conditions).Step)
	return r.results, nil
}

// numbers is a tokenizer for prompts that are tokens already.
type numbers struct{}

func (numbers) Encode(string, bool) []int  { return nil }
func (numbers) Begin() []int               { return nil }
func (numbers) Bytes(int) []byte           { return []byte("x") }
func (numbers) IsStop(int) bool            { return false }
func (numbers) NewDecoder() engine.Decoder { return numbers{} }
func (numbers) Push(int) string            { return "x" }
func (numbers) Flush() string              { return "" }
func evenly() cost.Model {
	return &cost.Linear{Base: 5 * time.Millisecond, Prefill: 30 * time.Microsecond, Decode: 30 * time.Microsecond}
}

// ended is what both engines tell of a request that has ended, in microseconds.
type ended struct {
	Prompt, Cached, Output, Preemptions int
	Class                               string
	Queue, Prefill, Decode, Arrived     int64
}

// inOrder sorts requests by when they ended; those of one step of the real engine are
// recorded by goroutines of their own, in any order.
func inOrder(all []ended) {
	slices.SortFunc(all, func(a, b ended) int {
		return cmp.Or(cmp.Compare(a.end(), b.end()), cmp.Compare(a.Arrived, b.Arrived))
	})
}

func (e *ended) end() int64 { return e.Arrived + e.Queue + e.Prefill + e.Decode }

// TestTheRealEngineDoesTheSame: the same requests through the real engine, whose runner
// sleeps as long as the cost model says, are scheduled in the same steps, finish in the
// same order at the same times, and find the same in the prefix cache.
func TestTheRealEngineDoesTheSame(t *testing.T) {
	for _, c := range []struct {
		name        string
		limits      engine.Limits
		blocks      int
		preemptions bool
	}{
		{"room for all", engine.Limits{MaxNumSeqs: 64, MaxBatchedTokens: 512}, 2000, false},
		{"few places, small steps", engine.Limits{MaxNumSeqs: 6, MaxBatchedTokens: 64, LongPrefillTokenThreshold: 40}, 2000, true},
		{"a small cache", engine.Limits{MaxNumSeqs: 64, MaxBatchedTokens: 256, MinShare: 0.1}, 40, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n, rate = 400, 60
			want, steps := throughEngine(t, c.limits, c.blocks, poisson(5, rate, n, mixed))
			got, sim := throughTwin(t, c.limits, c.blocks, poisson(5, rate, n, mixed))
			preempted := 0
			for i := range want {
				preempted += want[i].Preemptions
			}
			if (preempted > 0) != c.preemptions {
				t.Fatalf("%d preemptions: the case is not what it is called", preempted)
			}
			if int(sim.Steps) != steps {
				t.Errorf("%d steps, the real engine took %d", sim.Steps, steps)
			}
			inOrder(got)
			inOrder(want)
			for i := range want {
				if i < len(got) && got[i] != want[i] {
					t.Fatalf("request %d to finish: %+v, of the real engine %+v", i, got[i], want[i])
				}
			}
			if len(got) != n || len(want) != n {
				t.Errorf("%d requests finished, of the real engine %d", len(got), len(want))
			}
		})
	}
}

func mixed(r *rand.Rand, q *workload.Request) {
	q.Prompt, q.Output = 2+r.IntN(150), 1+r.IntN(50)
	q.Class = engine.Realtime + engine.Class(r.IntN(engine.NumClasses))
	if r.IntN(2) == 0 {
		q.Prefix = []workload.Segment{{ID: uint64(r.IntN(3)), Tokens: min(70, q.Prompt)}}
	}
}

func throughTwin(t *testing.T, l engine.Limits, blocks int, source workload.Source) (all []ended, tally Tally) {
	sc := plain()
	sc.Limits = l
	s := begin(t, sc, func(p *Parts) {
		p.Source, p.Front, p.Models, p.Blocks = source, Front{}, []cost.Model{evenly()}, blocks
	})
	if err := s.Advance(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, q := range s.Requests(0, "").Finished {
		us := func(stage engine.Stage) int64 { return int64(q.Stages[stage]*1e6 + 0.5) }
		all = append(all, ended{
			q.PromptTokens, q.CachedTokens, q.OutputTokens, q.Preemptions, q.Class,
			us(engine.StageQueue), us(engine.StagePrefill), us(engine.StageDecode), q.Arrived.Sub(start).Microseconds(),
		})
	}
	return all, s.Tally()
}

func throughEngine(t *testing.T, l engine.Limits, blocks int, source workload.Source) (all []ended, steps int) {
	synctest.Test(t, func(t *testing.T) {
		runner := &slowRunner{model: evenly(), conditions: cost.Conditions{Board: knob.NewBoard(1, 1), CPU: 1}}
		e, err := engine.New(engine.Config{
			Runner: runner, Tokenizer: numbers{}, MaxNumSeqs: l.MaxNumSeqs, MaxBatchedTokens: l.MaxBatchedTokens,
			LongPrefillTokenThreshold: l.LongPrefillTokenThreshold, MinShare: orNone(l.MinShare), KVHeadroom: engine.None,
			BlockSize: 16, NumBlocks: blocks, MaxQueue: engine.Unlimited,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- e.Run(ctx) }()
		synctest.Wait()
		began, number := time.Now(), uint64(0)
		var clients sync.WaitGroup
		for {
			at, ok := source.Due()
			if !ok {
				break
			}
			q := source.Take()
			number++
			time.Sleep(time.Until(began.Add(at)))
			body := body(t, q, number)
			clients.Go(func() {
				w := httptest.NewRecorder()
				e.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/v1/completions", strings.NewReader(body)))
				if w.Code != 200 {
					t.Errorf("%d: %s", w.Code, w.Body)
				}
			})
		}
		clients.Wait()
		all, steps = finished(t, e, began), runner.steps
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return all, steps
}

func orNone(share float64) float64 {
	if share == 0 {
		return engine.None
	}
	return share
}

// body is the request with the tokens that the twin makes of it.
func body(t *testing.T, q *workload.Request, number uint64) string {
	own := stream(mix(plain().Seed ^ number<<1))
	b, err := json.Marshal(map[string]any{
		"prompt": appendPrompt(nil, q.Prompt, q.Prefix, &own), "max_tokens": q.Output, "ignore_eos": true, "stream": q.Stream,
		"priority": int(q.Class),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func finished(t *testing.T, e *engine.Engine, began time.Time) (all []ended) {
	w := httptest.NewRecorder()
	e.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/debug/requests?limit=8192&state=finished", nil))
	var answer struct {
		Finished []struct {
			Arrived      time.Time
			Class        string
			PromptTokens int                `json:"prompt_tokens"`
			CachedTokens int                `json:"cached_tokens"`
			OutputTokens int                `json:"output_tokens"`
			Preemptions  int                `json:"preemptions"`
			Stages       map[string]float64 `json:"stages"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	for _, q := range answer.Finished {
		us := func(stage engine.Stage) int64 { return int64(q.Stages[stage.String()]*1e6 + 0.5) }
		all = append(all, ended{
			q.PromptTokens, q.CachedTokens, q.OutputTokens, q.Preemptions, q.Class,
			us(engine.StageQueue), us(engine.StagePrefill), us(engine.StageDecode), q.Arrived.Sub(began).Microseconds(),
		})
	}
	return all
}
