package model

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestForwardRefuses(t *testing.T) {
	m := load(t, tinyFile(tensorQ8_0, 1), 1)
	pool := NewKVPool(m.Config(), 4, 16, KVFloat32)
	good := Chunk{Tokens: []int{1, 2}, Blocks: []int{0}, Logits: 1}
	for _, c := range []struct {
		name string
		pool *KVPool
		bad  Chunk
		want string
	}{
		{"no tokens", pool, Chunk{Blocks: []int{0}}, "chunk 1: no tokens"},
		{"negative start", pool, Chunk{Tokens: []int{1}, Start: -1, Blocks: []int{0}}, "outside the context"},
		{"start beyond the context", pool, Chunk{Tokens: []int{1}, Start: 64, Blocks: sequence(0, 4)}, "outside the context of 64"},
		{"start near overflow", pool, Chunk{Tokens: []int{1}, Start: math.MaxInt, Blocks: []int{0}}, "outside the context"},
		{"longer than the context", pool, Chunk{Tokens: make([]int, 65), Blocks: sequence(0, 4)}, "outside the context"},
		{"no blocks", pool, Chunk{Tokens: []int{1}}, "do not hold"},
		{"blocks too few", pool, Chunk{Tokens: []int{1}, Start: 16, Blocks: []int{0}}, "1 blocks of 16 do not hold 17"},
		{"block outside the pool", pool, Chunk{Tokens: []int{1}, Blocks: []int{4}}, "block 4 is not in the pool"},
		{"block negative", pool, Chunk{Tokens: []int{1}, Start: 20, Blocks: []int{-1, 0}}, "block -1"},
		{"more logits than tokens", pool, Chunk{Tokens: []int{1}, Blocks: []int{0}, Logits: 2}, "after 2 of 1 tokens"},
		{"logits negative", pool, Chunk{Tokens: []int{1}, Blocks: []int{0}, Logits: -1}, "after -1 of 1 tokens"},
		{"token too large", pool, Chunk{Tokens: []int{40}, Blocks: []int{0}}, "token 40"},
		{"token negative", pool, Chunk{Tokens: []int{-1}, Blocks: []int{0}}, "token -1"},
		{"no pool", nil, good, "KV pool"},
		{"empty pool", NewKVPool(m.Config(), 0, 16, KVFloat32), good, "no blocks"},
		{"negative pool", NewKVPool(m.Config(), -3, -16, KVFloat32), good, "no blocks"},
		{"pool of another model", NewKVPool(Config{Layers: 2, KVHeads: 2, HeadDim: 32}, 4, 16, KVFloat32), good, "another shape"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := m.Forward(c.pool, []Chunk{good, c.bad})
			refused(t, err, c.want)
		})
	}
	for _, layer := range pool.layers {
		if slices.Max(layer.k) != 0 || slices.Min(layer.k) != 0 || slices.Max(layer.v) != 0 || slices.Min(layer.v) != 0 {
			t.Fatal("a refused step has written into the pool")
		}
	}
}

func TestForwardEmpty(t *testing.T) {
	m := load(t, tinyFile(tensorF32, 1), 1)
	pool := NewKVPool(m.Config(), 4, 16, KVFloat32)
	if out, err := m.Forward(pool, nil); len(out) != 0 || err != nil {
		t.Errorf("no chunks: %v, %v", out, err)
	}
	out, err := m.Forward(pool, []Chunk{{Tokens: []int{1}, Blocks: []int{0}}, {Tokens: []int{2}, Blocks: []int{1}, Logits: 1}})
	if err != nil || len(out) != 1 || len(out[0]) != tiny.Vocab {
		t.Errorf("%d rows of logits, %v", len(out), err)
	}
}

// alone is the logits after each token of a sequence computed in the simplest way:
// one token a step, no companions.
func alone(t testing.TB, m *Model, tokens []int, typ KVType) [][]float32 {
	t.Helper()
	pool := NewKVPool(m.Config(), 1, len(tokens), typ)
	var all [][]float32
	for i, id := range tokens {
		out, err := m.Forward(pool, []Chunk{{Tokens: []int{id}, Start: i, Blocks: []int{0}, Logits: 1}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, slices.Clone(out[0]))
	}
	return all
}

// TestBatchInvariance is the property the scheduler lives by: however sequences are
// cut into chunks, whoever shares a step, wherever the blocks lie and however many
// threads compute, the logits are those of a sequence alone, bit for bit.
func TestBatchInvariance(t *testing.T) {
	models := map[string][2]*Model{}
	for _, typ := range allTypes {
		for _, arch := range []string{"llama", "qwen2"} {
			c := tiny
			if kindOf(typ).weights == span {
				c = wide
			}
			c.Arch = arch
			models[kindOf(typ).name+" "+arch] = [2]*Model{load(t, modelFile(c, typ, 3), 1), load(t, modelFile(c, typ, 3), 3)}
		}
	}
	names := slices.Sorted(maps.Keys(models))
	for _, family := range []string{"F", "_0", "_K"} {
		t.Run(family, func(t *testing.T) {
			own := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.Contains(n, family) })
			rapid.Check(t, func(rt *rapid.T) {
				m := models[rapid.SampledFrom(own).Draw(rt, "model")]
				checkInvariance(t, rt, m[0], m[1], rapid.SampledFrom([]KVType{KVFloat32, KVInt8}).Draw(rt, "KV"))
			})
		})
	}
}

// run is a sequence on its way through the steps of a test.
type progress struct {
	tokens, blocks []int
	done           int
	want           [][]float32
}

func checkInvariance(t *testing.T, rt *rapid.T, reference, m *Model, kv KVType) {
	blockSize := rapid.SampledFrom([]int{1, 3, 8, 16}).Draw(rt, "block size")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
	longest := 20
	if raceEnabled {
		longest = 6
	}
	var seqs []*progress
	free := rng.Perm(200)
	for range rapid.IntRange(1, 6).Draw(rt, "sequences") {
		s := &progress{}
		for range 1 + rng.IntN(longest) {
			s.tokens = append(s.tokens, rng.IntN(tiny.Vocab))
		}
		need := (len(s.tokens) + blockSize - 1) / blockSize
		s.blocks, free = free[:need], free[need:]
		s.want = alone(t, reference, s.tokens, kv)
		seqs = append(seqs, s)
	}
	pool := NewKVPool(m.Config(), 200, blockSize, kv)
	for left := len(seqs); left > 0; {
		var batch []Chunk
		var who []*progress
		for _, s := range seqs {
			n := rng.IntN(min(len(s.tokens)-s.done, 9) + 1)
			if n == 0 {
				continue
			}
			batch = append(batch, Chunk{Tokens: s.tokens[s.done : s.done+n], Start: s.done, Blocks: s.blocks, Logits: rng.IntN(n + 1)})
			who = append(who, s)
			if s.done += n; s.done == len(s.tokens) {
				left--
			}
		}
		out, err := m.Forward(pool, batch)
		if err != nil {
			rt.Fatal(err)
		}
		for i, s := range who {
			for j := range batch[i].Logits {
				at := s.done - batch[i].Logits + j
				if !slices.Equal(out[0], s.want[at]) {
					rt.Fatalf("the logits after token %d of a sequence differ from those alone by up to %g", at+1, apart(out[0], s.want[at]))
				}
				out = out[1:]
			}
		}
		if len(out) > 0 {
			rt.Fatalf("%d rows of logits too many", len(out))
		}
	}
}

// apart is the largest difference.
func apart(a, b []float32) (most float64) {
	for i := range a {
		most = max(most, math.Abs(float64(a[i])-float64(b[i])))
	}
	return most
}

// TestSharedPrefix lets two sequences read the same blocks of a common start, also
// when one of them computes it in the same step.
func TestSharedPrefix(t *testing.T) {
	m := load(t, tinyFile(tensorQ8_0, 4), 2)
	prefix, a, b := sequence(5, 16), []int{1, 2, 3}, []int{7, 8}
	wantA, wantB := alone(t, m, slices.Concat(prefix, a), KVFloat32), alone(t, m, slices.Concat(prefix, b), KVFloat32)
	pool := NewKVPool(m.Config(), 8, 8, KVFloat32)
	out, err := m.Forward(pool, []Chunk{
		{Tokens: slices.Concat(prefix, a), Blocks: []int{6, 2, 4}, Logits: 1},
		{Tokens: b, Start: 16, Blocks: []int{6, 2, 5}, Logits: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(out[0], wantA[18]) || !slices.Equal(out[1], wantB[17]) {
		t.Errorf("logits differ by %g and %g", apart(out[0], wantA[18]), apart(out[1], wantB[17]))
	}
}

// TestUntied uses output.weight where the file has one.
func TestUntied(t *testing.T) {
	build := func(untied bool) *Model {
		w := &writer{}
		w.describe(tiny)
		w.weights(tiny, tensorF32, rand.New(rand.NewPCG(1, 0)))
		if untied {
			w.tensor("output.weight", tensorF32, make([]byte, 4*tiny.Vocab*tiny.Dim), uint64(tiny.Dim), uint64(tiny.Vocab))
		}
		return load(t, w.bytes(), 1)
	}
	tied, zero := alone(t, build(false), []int{5}, KVFloat32)[0], alone(t, build(true), []int{5}, KVFloat32)[0]
	if slices.Max(tied) == 0 || slices.Max(zero) != 0 || slices.Min(zero) != 0 {
		t.Errorf("tied %v, untied with zeros %v", tied[:3], zero[:3])
	}
}
