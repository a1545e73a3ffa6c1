package model

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A number comes back from its byte within half a step of the scale, and what is
// not finite does not come back as something that is.
func TestQuantise8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stride := rapid.IntRange(1, 3).Draw(t, "stride")
		x := rapid.SliceOfN(rapid.Float32(), 1, 40).Draw(t, "numbers")
		out := make([]int8, (len(x)-1)*stride+1)
		scale := quantise8(x, out, stride)
		most, finite := float32(0), true
		for _, v := range x {
			finite = finite && !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
			most = max(most, v, -v)
		}
		for i, v := range x {
			got := float64(out[i*stride]) * float64(scale)
			switch {
			case !finite && !math.IsNaN(got):
				t.Fatalf("%g of %v came back as %g", v, x, got)
			case finite && math.Abs(got-float64(v)) > float64(most)/254*1.001+1e-36:
				t.Fatalf("%g of at most %g came back as %g", v, most, got)
			}
		}
	})
}

// The memory is what KVBytes says, and bytes hold at least 3.5 times the blocks.
func TestKVBytes(t *testing.T) {
	c := shipped(t, 1).Config()
	const blocks, size = 7, 16
	for _, typ := range []KVType{KVFloat32, KVInt8} {
		var got int
		for _, l := range NewKVPool(c, blocks, size, typ).layers {
			got += 4*(len(l.k)+len(l.v)+len(l.kScale)+len(l.vScale)) + len(l.k8) + len(l.v8)
		}
		if want := KVBytes(c, blocks*size, typ); int64(got) != want {
			t.Errorf("%s: %d bytes, KVBytes says %d", typ, got, want)
		}
	}
	const memory = 64 << 20
	floats, bytes := memory/KVBytes(c, size, KVFloat32), memory/KVBytes(c, size, KVInt8)
	t.Logf("%d MiB hold %d blocks of float32, %d of int8", memory>>20, floats, bytes)
	if float64(bytes) < 3.5*float64(floats) {
		t.Errorf("%d blocks of bytes in the memory of %d of floats, want 3.5 times as many", bytes, floats)
	}
}

// What bytes cost in quality: the perplexity of held-out text stays within 1 % and
// greedy text hardly changes.
func TestInt8Quality(t *testing.T) {
	if raceEnabled {
		t.Skip("arithmetic only, too slow under the race detector")
	}
	m, docs := shipped(t, 0), documents(t)
	floats, n := perplexity(t, m, docs, KVFloat32)
	bytes, _ := perplexity(t, m, docs, KVInt8)
	t.Logf("perplexity of %d tokens: %.6f with float32, %.6f with int8", n, floats, bytes)
	if math.Abs(bytes/floats-1) > .01 {
		t.Errorf("perplexity %.5f with int8, %.5f with float32: more than 1 %% apart", bytes, floats)
	}
	same, all := 0, 0
	for _, p := range readGoldens(t).Prompts {
		got := greedyTokens(t, m, p.IDs, len(p.Greedy), KVInt8)
		for i, token := range p.Greedy {
			if all++; got[i] == token {
				same++
			}
		}
		if n := prefix(got, p.Greedy); n < p.Stable {
			t.Errorf("%s: the first %d greedy tokens are the golden ones, %d are stable", p.Name, n, p.Stable)
		}
	}
	t.Logf("%d of %d greedy tokens are the golden ones with int8", same, all)
}

// prefix is the number of leading numbers that are the same.
func prefix(a, b []int) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// greedyTokens continues a prompt by its own likeliest tokens.
func greedyTokens(t *testing.T, m *Model, ids []int, n int, typ KVType) (tokens []int) {
	t.Helper()
	pool := NewKVPool(m.Config(), 128, 16, typ)
	start := 0
	for range n {
		out, err := m.Forward(pool, []Chunk{{Tokens: ids, Start: start, Blocks: sequence(0, 128), Logits: 1}})
		if err != nil {
			t.Fatal(err)
		}
		best, _ := topTwo(out[0])
		start += len(ids)
		ids = []int{best}
		tokens = append(tokens, best)
	}
	return tokens
}

// A fault in the keys or values of a sequence shows in its own logits alone.
func TestFaultStaysVisible(t *testing.T) {
	bad := make([]float32, tiny.KVHeads*tiny.HeadDim)
	bad[3] = float32(math.NaN())
	for _, weights := range []uint32{tensorF32, tensorQ8_0} {
		m := load(t, tinyFile(weights, 1), 1)
		for _, typ := range []KVType{KVFloat32, KVInt8} {
			pool := NewKVPool(m.Config(), 4, 4, typ)
			want := slices.Clone(alone(t, m, []int{5, 6}, typ)[1])
			pool.store(0, 1, 0, bad, bad)
			out, err := m.Forward(pool, []Chunk{
				{Tokens: []int{6}, Start: 1, Blocks: []int{1}, Logits: 1},
				{Tokens: []int{5, 6}, Blocks: []int{2}, Logits: 1},
			})
			if err != nil {
				t.Fatal(err)
			}
			if !math.IsNaN(float64(out[0][0])) || !slices.Equal(out[1], want) {
				t.Errorf("weights of type %d, KV %s: logits %g after a fault, %g beside it, want %g", weights, typ, out[0][0], out[1][0], want[0])
			}
		}
	}
}

func TestParseKVType(t *testing.T) {
	for _, typ := range []KVType{KVFloat32, KVInt8} {
		if got, err := ParseKVType(typ.String()); got != typ || err != nil {
			t.Errorf("%s: %s, %v", typ, got, err)
		}
	}
	if _, err := ParseKVType("fp8"); err == nil {
		t.Error("fp8 is accepted")
	}
}
