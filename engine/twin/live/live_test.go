package live

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
)

// step is what a step of the tests takes; its kernels run for half of it.
const step = 7300 * time.Microsecond

type flat struct{ steps int }

func (f *flat) Step(w *cost.Work, c *cost.Conditions) *cost.Cost {
	f.steps++
	return &cost.Cost{Step: step, Kernel: step / 2, Gap: step / 2, CPU: time.Millisecond, Bytes: 1e9, Tensor: 0.5}
}

func config() Config {
	return Config{
		Title: "h100x8, test-70b", Cost: &flat{}, Board: knob.NewBoard(2, 1), Ranks: 2, Context: 1 << 17,
		Answers: Lengths{Median: 40, Sigma: 0.5}, Seed: 7,
	}
}

// run serves a twin within a bubble until the test's part is over.
func run(t *testing.T, c Config, change func(*engine.Config), part func(tw *Twin, h http.Handler)) {
	t.Helper()
	tw, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ec := engine.Config{MaxNumSeqs: 64, MaxBatchedTokens: 2048, NumBlocks: 4096, ModelName: "test-70b", MaxQueue: engine.Unlimited}
	if change != nil {
		change(&ec)
	}
	tw.Configure(&ec)
	e, err := engine.New(ec)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Warnings()) > 0 {
		t.Error(e.Warnings())
	}
	tw.Serve(e)
	ctx, end := context.WithCancel(t.Context())
	go tw.Live(ctx)
	looped := make(chan error)
	go func() { looped <- e.Run(ctx) }()
	synctest.Wait()
	part(tw, tw.Handler(e.Handler()))
	end()
	if err := <-looped; err != nil {
		t.Error(err)
	}
}

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

func post(h http.Handler, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
	return w
}

// An answer of n tokens takes n steps, no more: what the engine takes in between is in them.
func TestAnswersTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run(t, config(), nil, func(_ *Twin, h http.Handler) {
			began := time.Now()
			w := post(h, "/v1/chat/completions", `{"messages":[{"role":"user","content":"why?"}],"max_tokens":100,"ignore_eos":true}`)
			if took := time.Since(began); took != 100*step {
				t.Errorf("100 tokens took %s, want %s", took, 100*step)
			}
			if !strings.Contains(w.Body.String(), "placeholder text of a simulated engine") || !strings.Contains(w.Body.String(), `"completion_tokens":100`) {
				t.Errorf("answer %d %s", w.Code, w.Body)
			}
		})
	})
}

func TestScheduleDoesNotDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pacer{done: make(chan struct{})}
		began := time.Now()
		for range 1000 {
			p.begin(time.Now())
			p.take(300 * time.Microsecond)
			time.Sleep(time.Duration(1+time.Now().Nanosecond()%3) * 90 * time.Microsecond) // the engine's own work
		}
		if took := time.Since(began); took < 300*time.Millisecond || took > 301*time.Millisecond {
			t.Errorf("1000 steps of 300 µs took %s", took)
		}
		p.rest()
		time.Sleep(time.Hour)
		began = time.Now()
		p.begin(began)
		if p.take(step); time.Since(began) != step {
			t.Errorf("after a rest a step took %s", time.Since(began))
		}
		time.Sleep(time.Second) // the machine was busy elsewhere
		began = time.Now()
		p.begin(began)
		if p.take(step); time.Since(began) != step || p.lost.Load() == 0 {
			t.Errorf("after a stall a step took %s, %s given up", time.Since(began), time.Duration(p.lost.Load()))
		}
	})
}

// Two threads do twice as much as one, and a timer that is late costs them nothing.
func TestThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n, want := range map[int]time.Duration{1: 2 * time.Second, 2: time.Second} {
			f := &front{done: make(chan struct{})}
			f.tokenizers.resize(n)
			began, ended := time.Now(), make(chan struct{})
			for range 200 {
				go func() {
					f.wait(&f.tokenizers, 10*time.Millisecond)
					ended <- struct{}{}
				}()
			}
			for range 200 {
				<-ended
			}
			if took := time.Since(began); took != want {
				t.Errorf("200 texts of 10 ms on %d threads took %s, want %s", n, took, want)
			}
		}
	})
}

func TestAnswersEndByThemselves(t *testing.T) {
	a := newAnswers(Lengths{Median: 100, Sigma: 0.6}, 1)
	var lengths []int
	for range 2000 {
		s, n := new(engine.Sampler), 0
		for a.next(s, 1) != endTurn {
			n++
		}
		lengths = append(lengths, n)
	}
	slices.Sort(lengths)
	if median := lengths[1000]; median < 92 || median > 108 || len(a.open) != 0 {
		t.Errorf("median %d, %d answers are kept", median, len(a.open))
	}
	if p84 := float64(lengths[1682]); math.Abs(math.Log(p84/100)-0.6) > 0.08 {
		t.Errorf("84 %% are up to %g tokens", p84)
	}
	a.next(new(engine.Sampler), 1)
	for range 3 * forgotten {
		a.stepped()
	}
	if len(a.open) != 0 {
		t.Errorf("%d answers are never forgotten", len(a.open))
	}
}

func TestWorkOf(t *testing.T) {
	s := new(engine.Sampler)
	w := workOf([]engine.Chunk{
		{Tokens: make([]int, 1), Start: 99, Sampler: s},
		{Tokens: make([]int, 4), Drafts: 3, Start: 50, Sampler: s},
		{Tokens: make([]int, 10), Start: 0, Sampler: s},
		{Tokens: make([]int, 2), Start: 16},
	})
	want := cost.Work{Sampled: 3, Decodes: 2, DecodeTokens: 5, Context: 149, Prefills: 2, PrefillTokens: 12, PrefillPairs: 55 + 17 + 18, PrefillContext: 16}
	if w != want {
		t.Errorf("got  %+v\nwant %+v", w, want)
	}
}

// The tokenizer takes so long per byte and the knob so many times that, which the stage shows.
func TestTokenizerKnob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config()
		c.Front = cost.Front{TokenizeKB: 10 * time.Millisecond, Detokenize: time.Microsecond}
		c.Timeline = []twin.Event{{At: time.Minute, Change: knob.Change{Knob: knob.Tokenizer, Target: knob.All, Value: 6}}}
		run(t, c, nil, func(_ *Twin, h http.Handler) {
			body := fmt.Sprintf(`{"prompt":%q,"max_tokens":1}`, strings.Repeat("x", 10_000))
			time.Sleep(time.Second) // the chat template has been tokenized
			post(h, "/v1/completions", body)
			time.Sleep(time.Minute)
			post(h, "/v1/completions", body)
			var got struct {
				Finished []struct{ Stages map[string]float64 }
			}
			if err := json.Unmarshal(get(h, "/debug/requests").Body.Bytes(), &got); err != nil || len(got.Finished) != 2 {
				t.Fatalf("%v, %+v", err, got)
			}
			if a, b := got.Finished[0].Stages["tokenize"], got.Finished[1].Stages["tokenize"]; a != 0.1 || math.Abs(b-0.6) > 1e-9 {
				t.Errorf("tokenize took %g s, then %g s", a, b)
			}
		})
	})
}

// A smaller pool costs blocks, a lower limit places, also while requests run.
func TestSchedulerKnobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		small := func(c *engine.Config) { c.NumBlocks, c.KVHeadroom = 640, engine.None }
		run(t, config(), small, func(tw *Twin, h http.Handler) {
			ended := make(chan struct{})
			for i := range 32 {
				go func() {
					post(h, "/v1/completions", fmt.Sprintf(`{"prompt":%q,"max_tokens":200,"ignore_eos":true}`, strings.Repeat(fmt.Sprintf("%03d ", i), 60)))
					ended <- struct{}{}
				}()
			}
			time.Sleep(20 * step)
			for _, c := range []knob.Change{{Knob: knob.KVPool, Target: 0, Value: 0.3}, {Knob: knob.MaxNumSeqs, Target: knob.All, Value: 9}} {
				if err := tw.Turn(c); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(400 * step)
			s := tw.engine.Stats()
			if s.Withheld != 448 || s.PreemptedTokens == 0 || s.Running[1] > 9 {
				t.Errorf("%+v", s)
			}
			for range 32 {
				<-ended
			}
			if s := tw.engine.Stats(); s.Used != 0 {
				t.Errorf("at the end %+v", s)
			}
		})
	})
}

func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config()
		fleet := &fakeFleet{}
		c.Fleet = fleet
		run(t, c, nil, func(tw *Twin, h http.Handler) {
			ended := make(chan struct{})
			go func() {
				post(h, "/v1/completions", `{"prompt":"x","max_tokens":100,"ignore_eos":true}`)
				close(ended)
			}()
			time.Sleep(10 * step)
			tw.Turn(knob.Change{Knob: knob.Hang, Target: 0, Value: 1})
			before := fleet.seen(tw)
			time.Sleep(time.Minute)
			select {
			case <-ended:
				t.Error("it has not hung")
			default:
			}
			after := fleet.seen(tw)
			idle, kernel := after.Idle-before.Idle, after.Kernel-before.Kernel
			if idle < 59*time.Second || kernel < idle || kernel > time.Minute+time.Second {
				t.Errorf("the GPU spun for %s of %s", idle, kernel)
			}
			tw.Turn(knob.Change{Knob: knob.Hang, Target: 0, Value: 0})
			<-ended
		})
	})
}

// What GPUs and host are told of adds up to what the steps took.
func TestLoadsAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config()
		fleet, host := &fakeFleet{}, &fakeHost{}
		c.Fleet, c.Host = fleet, host
		c.Front = cost.Front{Receive: 30 * time.Microsecond, Detokenize: 20 * time.Microsecond, Send: 10 * time.Microsecond}
		run(t, c, nil, func(tw *Twin, h http.Handler) {
			body := `{"prompt":"x","max_tokens":50,"ignore_eos":true,"stream":true}`
			for range 3 {
				post(h, "/v1/completions", body)
			}
			var got simulated
			if err := json.Unmarshal(get(h, SimulatedPage).Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if got.Simulated != c.Title || got.GPU == nil || got.Host.CPUs != 96 || got.Process.PID != 4711 || got.Neighbours != nil || got.Sockets == nil {
				t.Errorf("got %+v", got)
			}
			near := func(got, want time.Duration) bool { return (got - want).Abs() < 10*time.Microsecond }
			if g := fleet.seen(tw); !near(g.Kernel, 150*step/2) || math.Abs(g.Bytes-150e9) > 1e6 {
				t.Errorf("GPU: %+v", g)
			}
			tw.mu.Lock()
			n := host.total
			tw.mu.Unlock()
			if n.Steps != 150 || n.Requests != 3 || n.BytesIn != float64(3*len(body)) || !near(n.CPU[machine.Schedule], 150*time.Millisecond) ||
				n.CPU[machine.Detokenize] != 150*20*time.Microsecond || n.CPU[machine.Receive] != 90*time.Microsecond {
				t.Errorf("host: %+v", n)
			}
			began := time.Now()
			if w := get(h, "/debug/pprof/profile?seconds=3"); w.Body.String() != "profile" || time.Since(began) != 3*time.Second {
				t.Errorf("profile: %d %s after %s", w.Code, w.Body, time.Since(began))
			}
			if w := get(h, "/debug/pprof/profile?seconds=-1"); w.Code != http.StatusBadRequest {
				t.Errorf("a profile of -1 s: %d", w.Code)
			}
		})
	})
}

func TestPageIsFed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config()
		p := &tally{}
		c.Page = func(time.Time) (exposition.Page, error) { return p, nil }
		run(t, c, func(c *engine.Config) { c.MaxNumSeqs, c.MaxBatchedTokens = 4, 64 }, func(tw *Twin, h http.Handler) {
			ended := make(chan struct{})
			for i := range 10 {
				go func() {
					post(h, "/v1/completions", fmt.Sprintf(`{"prompt":%q,"max_tokens":20,"ignore_eos":true}`, strings.Repeat("abc ", 20+i)))
					ended <- struct{}{}
				}()
			}
			time.Sleep(10 * step)
			if body := get(h, "/metrics").Body.String(); !strings.Contains(body, "sglang:num_running_reqs 4\n") {
				t.Errorf("page %q", body)
			}
			for range 10 {
				<-ended
			}
			post(h, "/v1/completions", `{"prompt":"x","max_tokens":-1}`)
			tw.page.mu.Lock()
			defer tw.page.mu.Unlock()
			want := tally{arrived: 11, queued: 10, admitted: 10, first: 10, finished: 11, rejected: 1, tokens: 190, firsts: 10, cached: p.cached}
			if want.stalled, want.gapped = p.stalled, 190-p.stalled; *p != want || p.cached == 0 || p.gapped < 150 {
				t.Errorf("got  %+v\nwant %+v", *p, want)
			}
		})
	})
}

func TestTurnable(t *testing.T) {
	for _, c := range []struct {
		id knob.ID
		ok bool
	}{{knob.KVPool, true}, {knob.PowerCap, true}, {knob.Tokenizer, true}, {knob.Rate, false}, {knob.Restart, false}} {
		if err := Turnable(knob.Change{Knob: c.id}); (err == nil) != c.ok {
			t.Errorf("%s: %v", knob.Table[c.id].Name, err)
		}
	}
}
