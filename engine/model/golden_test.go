package model

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"

	"llmtop/engine/tokenizer"
)

// goldens is what a correct engine computes, see oncall/README.md.
type goldens struct {
	Prompts    []goldenPrompt     `json:"prompts"`
	Perplexity map[string]float64 `json:"perplexity"`
	Tokens     int                `json:"perplexity_tokens"`
}

type goldenPrompt struct {
	Name        string    `json:"name"`
	IDs         []int     `json:"ids"`
	Greedy      []int     `json:"greedy"`
	Gap         []float64 `json:"gap"`
	Stable      int       `json:"stable"`
	Text        string    `json:"greedy_text"`
	DraftGreedy []int     `json:"draft_greedy"`
	DraftGap    []float64 `json:"draft_gap"`
	DraftStable int       `json:"draft_stable"`
	Top         goldenTop `json:"logits_top10"`
}

// goldenTop is the ten best logits after a prompt, computed in float64.
type goldenTop struct {
	IDs    []int     `json:"ids"`
	Values []float64 `json:"values"`
}

func readGoldens(t *testing.T) goldens {
	t.Helper()
	data, err := os.ReadFile("oncall/goldens.json")
	if err != nil {
		t.Fatal(err)
	}
	var g goldens
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Prompts) != 12 {
		t.Fatalf("%d prompts in the goldens", len(g.Prompts))
	}
	return g
}

// beside opens a model that is kept beside the repository, or skips.
func beside(t *testing.T, name string) *Model {
	t.Helper()
	f, err := Open("../../../shared/models/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no " + name + " beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := Load(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// rounding is how far logits of the float32 reference and ours may lie apart: both
// round, the reference to 24 bits, we to 18 bits a block. Measured: at most 1.3e-4.
const rounding = 5e-4

// greedy feeds the golden tokens and checks that ours are the same. Where one
// differs, both logits are shown and must lie within rounding of each other. The
// logits after the prompt are held against top where there is one.
func greedy(t *testing.T, m *Model, p goldenPrompt, want []int, gap []float64, stable int, top *goldenTop) {
	t.Helper()
	pool := NewKVPool(m.Config(), 128, 16, KVFloat32)
	blocks := make([]int, pool.Blocks())
	for i := range blocks {
		blocks[i] = (i*37 + 5) % len(blocks)
	}
	ids, start, same := p.IDs, 0, 0
	for i, token := range want {
		out, err := m.Forward(pool, []Chunk{{Tokens: ids, Start: start, Blocks: blocks, Logits: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && top != nil {
			topTen(t, p.Name, out[0], *top)
		}
		best, second := topTwo(out[0])
		start, ids = start+len(ids), want[i:i+1]
		if best == token {
			same++
			if own := float64(out[0][best] - out[0][second]); math.Abs(own-gap[i]) > 2*rounding {
				t.Errorf("%s, step %d: the two best logits are %.4f apart, want %.4f", p.Name, i, own, gap[i])
			}
			continue
		}
		lead := float64(out[0][best] - out[0][token])
		t.Logf("%s, step %d: token %d (logit %g), want %d (logit %g)", p.Name, i, best, out[0][best], token, out[0][token])
		if i < stable || lead > 2*rounding {
			t.Errorf("%s, step %d of which %d are stable: the logits are %g apart", p.Name, i, stable, lead)
		}
	}
	t.Logf("%s: %d of %d tokens are the golden ones", p.Name, same, len(want))
}

// topTen compares the ten best logits after a prompt.
func topTen(t *testing.T, name string, logits []float32, top goldenTop) {
	t.Helper()
	worst := 0.0
	for i, id := range top.IDs {
		diff := math.Abs(float64(logits[id]) - top.Values[i])
		worst = max(worst, diff)
		if diff > rounding {
			t.Errorf("%s: logit of token %d is %g, want %g", name, id, logits[id], top.Values[i])
		}
	}
	t.Logf("%s: ten best logits within %.1e of float64", name, worst)
}

// topTwo is the ids of the two best logits.
func topTwo(logits []float32) (best, second int) {
	best, second = 0, 1
	for i, x := range logits {
		switch {
		case x > logits[best]:
			best, second = i, best
		case i != best && (x > logits[second] || second == best):
			second = i
		}
	}
	return best, second
}

// short leaves out the long prompts and most steps under the race detector.
func short(p *goldenPrompt) bool {
	if !raceEnabled {
		return true
	}
	p.Greedy, p.DraftGreedy = p.Greedy[:12], p.DraftGreedy[:12]
	return len(p.IDs) < 100
}

func TestGreedy(t *testing.T) {
	m := shipped(t, 0)
	for _, p := range readGoldens(t).Prompts {
		if short(&p) {
			greedy(t, m, p, p.Greedy, p.Gap, p.Stable, &p.Top)
		}
	}
}

func TestGreedyDraft(t *testing.T) {
	m := load(t, OncallDraft(), 0)
	for _, p := range readGoldens(t).Prompts {
		if short(&p) {
			greedy(t, m, p, p.DraftGreedy, p.DraftGap, p.DraftStable, nil)
		}
	}
}

// clearGap is the distance of the two best logits from which on the float16 weights
// must choose the same token as the Q8_0 ones (the goldens call such steps stable).
const clearGap = 0.15

// TestGreedyF16 follows the tokens of the Q8_0 weights with the float16 ones they come from.
func TestGreedyF16(t *testing.T) {
	m := beside(t, "oncall/oncall-main.F16.gguf")
	pool := NewKVPool(m.Config(), 128, 16, KVFloat32)
	same, all := 0, 0
	for _, p := range readGoldens(t).Prompts {
		if !short(&p) {
			continue
		}
		ids, start := p.IDs, 0
		for i, token := range p.Greedy {
			out, err := m.Forward(pool, []Chunk{{Tokens: ids, Start: start, Blocks: sequence(0, 128), Logits: 1}})
			if err != nil {
				t.Fatal(err)
			}
			start, ids = start+len(ids), p.Greedy[i:i+1]
			best, _ := topTwo(out[0])
			if all++; best == token {
				same++
			} else if p.Gap[i] >= clearGap {
				t.Errorf("%s, step %d: token %d, want %d by %g", p.Name, i, best, token, p.Gap[i])
			}
		}
	}
	t.Logf("%d of %d tokens are those of Q8_0", same, all)
}

// documents are the held-out texts as tokens, from <s> to </s>.
func documents(t *testing.T) [][]int {
	t.Helper()
	text, err := os.ReadFile("oncall/heldout.txt")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(Oncall())
	if err != nil {
		t.Fatal(err)
	}
	vocab, err := f.Vocab()
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.New(vocab)
	if err != nil {
		t.Fatal(err)
	}
	var docs [][]int
	for _, d := range strings.Split(string(text), "\n%%\n") {
		ids := append([]int{vocab.BOS}, tok.Encode(d, true)...)
		docs = append(docs, append(ids, vocab.EOS))
	}
	return docs
}

// perplexity predicts every token of every document, all documents side by side.
func perplexity(t *testing.T, m *Model, docs [][]int, typ KVType) (float64, int) {
	t.Helper()
	const per = 128
	pool := NewKVPool(m.Config(), per*len(docs), 16, typ)
	var sum float64
	n := 0
	for at := 0; ; at++ {
		var batch []Chunk
		var next []int
		for i, d := range docs {
			if at+1 < len(d) {
				batch = append(batch, Chunk{Tokens: d[at : at+1], Start: at, Blocks: sequence(i*per, per), Logits: 1})
				next = append(next, d[at+1])
			}
		}
		if len(batch) == 0 {
			return math.Exp(sum / float64(n)), n
		}
		out, err := m.Forward(pool, batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, logits := range out {
			sum += surprise(logits, next[i])
			n++
		}
	}
}

// surprise is -log p of a token.
func surprise(logits []float32, token int) float64 {
	var sum float64
	for _, x := range logits {
		sum += math.Exp(float64(x - logits[token]))
	}
	return math.Log(sum)
}

func TestPerplexity(t *testing.T) {
	if raceEnabled {
		t.Skip("arithmetic only, too slow under the race detector")
	}
	g := readGoldens(t)
	docs := documents(t)
	for name, open := range map[string]func(t *testing.T) *Model{
		"main.Q8_0":  func(t *testing.T) *Model { return shipped(t, 0) },
		"main.F16":   func(t *testing.T) *Model { return beside(t, "oncall/oncall-main.F16.gguf") },
		"draft.Q8_0": func(t *testing.T) *Model { return load(t, OncallDraft(), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			got, n := perplexity(t, open(t), docs, KVFloat32)
			if n != g.Tokens {
				t.Errorf("%d tokens are predicted, want %d", n, g.Tokens)
			}
			if want := g.Perplexity[name]; math.Abs(got-want) > 1e-5 || want == 0 {
				t.Errorf("perplexity %.7f, want %.7f", got, want)
			}
			t.Logf("perplexity %.6f", got)
		})
	}
}
