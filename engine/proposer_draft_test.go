package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"llmtop/engine/model"
)

// draftOf loads a runner with the embedded draft model.
func draftOf(t *testing.T, c Config) (*cpuRunner, Tokenizer) {
	t.Helper()
	c.Speculative = SpeculateDraft
	c, err := c.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := newCPURunner(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.(*cpuRunner).Close() })
	return r.(*cpuRunner), w.tokenizer
}

// The acceptance of the shipped draft model is that of the goldens, which were
// computed by another implementation: guesses from the first token on, 4 at a time,
// until 128 tokens are there.
func TestGoldenAcceptance(t *testing.T) {
	if raceEnabled {
		t.Skip("arithmetic only, too slow under the race detector")
	}
	text, err := os.ReadFile("model/oncall/heldout.txt")
	if err != nil {
		t.Fatal(err)
	}
	r, tok := draftOf(t, Config{})
	golden := readGoldens(t).Speculative
	stories, chats := goldenTexts(string(text))
	for _, c := range []struct {
		name    string
		prompts []string
		want    goldenAcceptance
	}{{"stories", stories, golden.Story}, {"chats", chats, golden.Chat}} {
		got := goldenAcceptance{}
		for _, p := range c.prompts {
			q := &Sequence{Prompt: append(tok.Begin(), tok.Encode(p, true)...), Sampler: NewSampler(0, 1, 0), blocks: ascending(64)}
			proposed, accepted := speculateAlone(t, r, q, golden.K, golden.Tokens)
			got.Proposed, got.Accepted = got.Proposed+proposed, got.Accepted+accepted
		}
		t.Logf("%s: %d of %d guesses accepted; golden %d of %d", c.name, got.Accepted, got.Proposed, c.want.Accepted, c.want.Proposed)
		rate, want := float64(got.Accepted)/float64(got.Proposed), float64(c.want.Accepted)/float64(c.want.Proposed)
		if rate < want-.01 || rate > want+.01 {
			t.Errorf("%s: acceptance %.3f, want %.3f", c.name, rate, want)
		}
	}
}

// goldenTexts are the beginnings of the first 12 held-out stories and chats, cut as the goldens' maker does.
func goldenTexts(text string) (stories, chats []string) {
	for _, d := range strings.Split(text, "\n%%\n") {
		if begin, _, ok := strings.Cut(d, "<|assistant|>"); ok && len(chats) < 12 {
			chats = append(chats, begin+"<|assistant|>\n")
		}
		if !strings.HasPrefix(d, "<") && len(stories) < 12 {
			stories = append(stories, d[:strings.LastIndex(d[:150], " ")])
		}
	}
	return stories, chats
}

// speculateAlone decodes one sequence with k guesses in every step.
func speculateAlone(t *testing.T, r *cpuRunner, q *Sequence, k, tokens int) (proposed, accepted int) {
	t.Helper()
	for len(q.Output) < tokens {
		i := Item{Seq: q, Start: q.computed, Tokens: q.pending(), Drafts: k}
		guesses, err := r.draft.Propose([]Item{i})
		if err != nil {
			t.Fatal(err)
		}
		c := Chunk{Tokens: append(q.tokens(nil, i.Start, q.Len()), guesses[0]...), Drafts: k, Start: i.Start, Blocks: q.blocks, Sampler: q.Sampler}
		out, err := r.Run([]Chunk{c})
		if err != nil {
			t.Fatal(err)
		}
		held := len(out[0].Tokens) - 1
		proposed, accepted = proposed+len(guesses[0]), accepted+held
		q.computed += i.Tokens + held
		q.Output = append(q.Output, out[0].Tokens...)
	}
	r.draft.Forget(q)
	return proposed, accepted
}

func ascending(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
}

// city is a scheduler gone wild: sequences with common beginnings begin, go on in
// chunks, have any number of guesses rejected, share blocks of a prefix cache, lose
// their blocks and end, at random.
type city struct {
	rng    *rand.Rand
	size   int
	free   []int
	refs   []int
	owner  []string       // by block: the tokens up to its end, once all are verified
	cached map[string]int // tokens up to the end of a block, to the block
	seqs   []*Sequence
	draft  *draftProposer
	alone  *model.Model
	known  map[string][]int
}

func newCity(rng *rand.Rand, d *draftProposer, alone *model.Model) *city {
	n := d.pool.Blocks()
	return &city{
		rng: rng, size: d.pool.BlockSize(), free: rng.Perm(n), refs: make([]int, n), owner: make([]string, n),
		cached: map[string]int{}, draft: d, alone: alone, known: map[string][]int{},
	}
}

func key(tokens []int) string { return fmt.Sprint(tokens) }

// begin admits a sequence, new or again, with what the cache has of it.
func (c *city) begin(q *Sequence) {
	all := q.tokens(nil, 0, q.Len())
	for end := c.size; end < len(all); end += c.size {
		b, hit := c.cached[key(all[:end])]
		if !hit {
			break
		}
		if c.refs[b] == 0 {
			c.free = slices.DeleteFunc(c.free, func(f int) bool { return f == b })
		}
		c.refs[b]++
		q.blocks, q.computed = append(q.blocks, b), end
	}
}

func (c *city) grow(q *Sequence, tokens int) {
	for len(q.blocks)*c.size < tokens {
		b := c.free[0]
		c.free = c.free[1:]
		if c.owner[b] != "" {
			delete(c.cached, c.owner[b])
			c.owner[b] = ""
		}
		c.refs[b] = 1
		q.blocks = append(q.blocks, b)
	}
}

func (c *city) release(q *Sequence) {
	for _, b := range q.blocks {
		if c.refs[b]--; c.refs[b] == 0 {
			c.free = append(c.free, b)
		}
	}
	q.blocks, q.computed = nil, 0
}

// verified caches the full blocks of what is computed.
func (c *city) verified(q *Sequence) {
	all := q.tokens(nil, 0, q.Len())
	for n := range q.computed / c.size {
		k, b := key(all[:(n+1)*c.size]), q.blocks[n]
		if _, hit := c.cached[k]; !hit && c.owner[b] == "" {
			c.cached[k], c.owner[b] = b, k
		}
	}
}

// step computes some of the sequences and holds every guess against the draft model alone.
func (c *city) step(t *testing.T) (hits int) {
	var items []Item
	for _, q := range c.seqs {
		if c.rng.IntN(4) == 0 {
			continue
		}
		if len(q.blocks) == 0 {
			c.begin(q)
			hits += q.computed
		}
		i := Item{Seq: q, Start: q.computed, Tokens: 1 + c.rng.IntN(q.pending())}
		if i.Samples() {
			i.Drafts = c.rng.IntN(5)
		}
		c.grow(q, i.Start+i.Tokens+i.Drafts)
		items = append(items, i)
	}
	guesses, err := c.draft.Propose(items)
	if err != nil {
		t.Fatal(err)
	}
	for n, i := range items {
		all := i.Seq.tokens(nil, 0, i.Seq.Len())
		if want := c.guess(t, all, i.Drafts); !slices.Equal(guesses[n], want) {
			t.Fatalf("guesses %v after %v, the draft model alone says %v", guesses[n], all, want)
		}
		held := 0
		if i.Samples() {
			held = c.rng.IntN(len(guesses[n]) + 1)
			i.Seq.Output = append(append(i.Seq.Output, guesses[n][:held]...), 300+c.rng.IntN(3))
		}
		i.Seq.computed = i.Start + i.Tokens + held
		c.verified(i.Seq)
	}
	return hits
}

// guess is what the draft model says alone, from the beginning.
func (c *city) guess(t *testing.T, tokens []int, n int) (guesses []int) {
	t.Helper()
	if n == 0 {
		return nil
	}
	k := key(tokens)
	for tokens = slices.Clone(tokens); len(c.known[k]) < n; {
		all := append(tokens, c.known[k]...)
		pool := model.NewKVPool(c.alone.Config(), 1, len(all), model.KVFloat32)
		out, err := c.alone.Forward(pool, []model.Chunk{{Tokens: all, Blocks: []int{0}, Logits: 1}})
		if err != nil {
			t.Fatal(err)
		}
		c.known[k] = append(c.known[k], argmax(out[0]))
	}
	return c.known[k][:n]
}

// Whatever happens to sequences and blocks, the draft model's cache holds what
// belongs there: each guess is the one that it makes from the whole text alone.
func TestDraftKeepsUp(t *testing.T) {
	steps := 250
	if raceEnabled {
		steps = 20
	}
	random, err := draftFile(RandomDraft) // its guesses depend on every single token
	if err != nil {
		t.Fatal(err)
	}
	alone, err := model.Load(random, model.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	for _, size := range []int{1, 3, 4} {
		r, _ := draftOf(t, Config{BlockSize: size, NumBlocks: 160 / size, MaxBatchedTokens: 64, DraftModelPath: RandomDraft})
		rng := rand.New(rand.NewPCG(uint64(size), 3))
		c := newCity(rng, r.draft, alone)
		hits, preempted := 0, 0
		for range steps {
			for len(c.seqs) < 3 {
				q := &Sequence{Prompt: []int{1}}
				for range 4 + rng.IntN(9) {
					q.Prompt = append(q.Prompt, 300+rng.IntN(2)) // so that beginnings are often the same
				}
				c.seqs = append(c.seqs, q)
			}
			hits += c.step(t)
			n := rng.IntN(len(c.seqs))
			switch q := c.seqs[n]; {
			case rng.IntN(3) == 0:
				c.release(q)
				q.Preemptions++
				preempted++
			case rng.IntN(5) == 0 || q.Len() > 40:
				c.release(q)
				c.draft.Forget(q)
				c.seqs = slices.Delete(c.seqs, n, n+1)
			}
		}
		t.Logf("blocks of %d: %d tokens found in the cache, %d preemptions", size, hits, preempted)
		if !raceEnabled && (hits == 0 || preempted == 0) {
			t.Error("no hit or no preemption: this run shows little")
		}
	}
}

// Beyond the draft model's own context there are no guesses, and no error.
func TestDraftContext(t *testing.T) {
	if raceEnabled {
		t.Skip("arithmetic only, too slow under the race detector")
	}
	r, _ := draftOf(t, Config{NumBlocks: 129})
	q := &Sequence{Prompt: slices.Repeat([]int{300}, 2045), blocks: ascending(129)}
	for start := 0; start < q.Len(); start += 256 {
		n := min(256, q.Len()-start)
		i := Item{Seq: q, Start: start, Tokens: n}
		if i.Samples() {
			i.Drafts = 8
		}
		guesses, err := r.draft.Propose([]Item{i})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 4, false: 0}[i.Samples()]; len(guesses[0]) != want { // positions 2045, 2046, 2047 and the token after
			t.Errorf("%d guesses from %d on, want %d", len(guesses[0]), start+n, want)
		}
	}
}
