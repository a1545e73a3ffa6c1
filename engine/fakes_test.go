package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// fakeRunner keeps the tokens themselves in its paged cache and samples a hash of
// all tokens of the sequence, read back through the block table. So a wrong block
// table, a wrong position or a block shared by accident changes its output.
type fakeRunner struct {
	shape     Shape
	blockSize int
	cache     []int
	out       []Result
	steps     int

	before func(step int) error // called before each step, when set
}

func newFakeRunner(c Config, context int) *fakeRunner {
	f := &fakeRunner{shape: Shape{Context: context, Vocab: fakeVocab}, blockSize: c.BlockSize, cache: make([]int, c.NumBlocks*c.BlockSize)}
	for i := range f.cache {
		f.cache[i] = -1
	}
	return f
}

func (f *fakeRunner) Shape() Shape { return f.shape }

func (f *fakeRunner) Run(batch []Chunk) ([]Result, error) {
	f.steps++
	if f.before != nil {
		if err := f.before(f.steps); err != nil {
			return nil, err
		}
	}
	for _, c := range batch {
		for i, t := range c.Tokens {
			f.cache[f.slot(c, c.Start+i)] = t
		}
	}
	f.out = f.out[:0]
	for _, c := range batch {
		var r Result
		if c.Sampler != nil {
			r.Tokens = f.sample(c)
			for _, t := range r.Tokens {
				r.Logprobs = c.Sampler.AppendLogprobs(r.Logprobs, fakeLogits(t), t)
			}
		}
		f.out = append(f.out, r)
	}
	return f.out, nil
}

func (f *fakeRunner) slot(c Chunk, position int) int {
	return c.Blocks[position/f.blockSize]*f.blockSize + position%f.blockSize
}

// sample verifies the guesses of a chunk and adds the token after those that hold.
func (f *fakeRunner) sample(c Chunk) (tokens []int) {
	var all []int
	sure := c.Start + len(c.Tokens) - c.Drafts
	for p := range sure {
		all = append(all, f.cache[f.slot(c, p)])
	}
	for {
		next := nextToken(all)
		tokens, all = append(tokens, next), append(all, next)
		p := sure + len(tokens) - 1
		if p == c.Start+len(c.Tokens) || f.cache[f.slot(c, p)] != next {
			return tokens
		}
	}
}

// The fake vocabulary is ASCII; token 1 begins a prompt, and what is sampled is a lower case letter.
const fakeVocab = 128

func nextToken(all []int) int {
	h := uint32(2166136261)
	for _, t := range all {
		h = (h ^ uint32(t)) * 16777619
	}
	return 'a' + int(h%26)
}

// The fake template is that of the embedded model.
const fakeTemplate = "<|user|>\n <|assistant|>\n \n<|end|>\n"

var fakeControl = strings.NewReplacer("<|user|>", "\x02", "<|assistant|>", "\x03", "<|end|>", "\x04")

// fakeLogits are those after which token t is the likeliest, then t+1, t+2 and so on.
func fakeLogits(t int) []float32 {
	l := make([]float32, fakeVocab)
	for i := range l {
		l[(t+i)%fakeVocab] = float32(-i)
	}
	return l
}

type fakeTokenizer struct {
	stop    int           // the token that ends an answer; -1: none
	encoded *atomic.Int64 // counts calls, when set
}

func (t fakeTokenizer) Encode(text string, special bool) (ids []int) {
	if t.encoded != nil {
		t.encoded.Add(1)
	}
	if special {
		text = fakeControl.Replace(text)
	}
	for _, b := range []byte(text) {
		ids = append(ids, int(b)%fakeVocab)
	}
	return ids
}

func (t fakeTokenizer) Begin() []int        { return []int{1} }
func (t fakeTokenizer) Bytes(id int) []byte { return []byte{byte(id)} }
func (t fakeTokenizer) IsStop(id int) bool  { return id == t.stop }
func (t fakeTokenizer) NewDecoder() Decoder { return fakeDecoder{} }

type fakeDecoder struct{}

func (fakeDecoder) Push(id int) string { return string(rune(id)) }
func (fakeDecoder) Flush() string      { return "" }

// testEngine is an engine over fakes with its loop running.
type testEngine struct {
	*Engine
	runner  *fakeRunner
	handler http.Handler
	stop    func() // ends the loop and waits for it
}

// startFake serves a fake model; change may alter the configuration and the runner.
// The caller stops it.
func startFake(t *testing.T, change func(c *Config, f *fakeRunner)) *testEngine {
	t.Helper()
	c := Config{MaxNumSeqs: 4, MaxBatchedTokens: 16, BlockSize: 4, NumBlocks: 64, ModelName: "fake", ChatTemplate: fakeTemplate}
	f := newFakeRunner(c, 200)
	c.Runner, c.Tokenizer = f, fakeTokenizer{stop: -1}
	if change != nil {
		change(&c, f)
		f.blockSize, f.cache = c.BlockSize, make([]int, c.NumBlocks*c.BlockSize)
	}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &testEngine{Engine: e, runner: f, handler: e.Handler(), stop: runLoop(t, e)}
}

func runLoop(t *testing.T, e *Engine) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	for e.ready() != nil {
		runtime.Gosched()
	}
	return func() {
		cancel()
		if err := <-over; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// post sends a request and waits for its whole answer.
func (e *testEngine) post(ctx context.Context, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", path, strings.NewReader(body)))
	return w
}

func (e *testEngine) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

// completion is a request with a prompt of n letters; more is further JSON.
func completion(n, maxTokens int, more string) string {
	return fmt.Sprintf(`{"prompt":%q,"max_tokens":%d%s}`, strings.Repeat("x", n), maxTokens, more)
}

// freed reports whether nothing is running and every block is free. Only for an idle loop.
func (e *testEngine) freed(t *testing.T) {
	t.Helper()
	if s := e.snapshot(); s.running() != 0 || s.waiting() != 0 || s.Used != 0 {
		t.Errorf("running %d, waiting %d, blocks in use %d; want none of each", s.running(), s.waiting(), s.Used)
	}
	if n := len(e.jobs); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
}

// gate makes a runner stop before each step until it is let go on.
type gate struct {
	arrived chan int      // the step that waits
	pass    chan struct{} // lets one step go on
	open    chan struct{} // closed: all go on
	once    sync.Once
}

func newGate() *gate {
	return &gate{arrived: make(chan int), pass: make(chan struct{}), open: make(chan struct{})}
}

func (g *gate) before(step int) error {
	select {
	case g.arrived <- step:
	case <-g.open:
		return nil
	}
	select {
	case <-g.pass:
	case <-g.open:
	}
	return nil
}

func (g *gate) release() { g.once.Do(func() { close(g.open) }) }

var errBroken = errors.New("the device is lost")

func decodeBody[T any](t *testing.T, w *httptest.ResponseRecorder) (v T) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v in %q", err, w.Body)
	}
	return v
}

// events are the data of a stream, in order.
func events(w *httptest.ResponseRecorder) (data []string) {
	for line := range strings.Lines(w.Body.String()) {
		if d, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
			data = append(data, d)
		}
	}
	return data
}

// streamText joins the texts of a stream of completion chunks.
func streamText(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var b strings.Builder
	for _, d := range events(w) {
		if d == "[DONE]" {
			continue
		}
		var r response
		if err := json.Unmarshal([]byte(d), &r); err != nil {
			t.Fatalf("%v in %q", err, d)
		}
		for _, c := range r.Choices {
			if c.Text != nil {
				b.WriteString(*c.Text)
			}
			if c.Delta != nil && c.Delta.Content != nil {
				b.WriteString(*c.Delta.Content)
			}
		}
	}
	return b.String()
}

// expected is what the fake model answers to a completion of n letters x.
func expected(n, maxTokens int) string {
	all := append([]int{1}, slices.Repeat([]int{'x'}, n)...)
	from := len(all)
	for range maxTokens {
		all = append(all, nextToken(all))
	}
	var b strings.Builder
	for _, t := range all[from:] {
		b.WriteRune(rune(t))
	}
	return b.String()
}
