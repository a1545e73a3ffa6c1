package model

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

func TestShippedConfig(t *testing.T) {
	f, err := Parse(Oncall())
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Config()
	if err != nil {
		t.Fatal(err)
	}
	want := Config{Name: "oncall main", Arch: "llama", Dim: 128, Layers: 6, Heads: 4, KVHeads: 2, HeadDim: 32, FFN: 384, Vocab: 1024, Context: 2048,
		RopeDim: 32, RopeBase: 10000, RopeFactor: 1, NormEps: 1e-5, Parameters: 1312384, FileBytes: 1425760}
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	v, err := f.Vocab()
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Tokens) != 1024 || v.BOS != 1 || v.EOS != 2 || v.UNK != 0 || v.EOT != 1023 || !v.AddBOS || v.AddSpacePrefix {
		t.Errorf("vocabulary of %d: %+v", len(v.Tokens), v)
	}
}

// TestLoadRefuses changes one thing of a good file.
func TestLoadRefuses(t *testing.T) {
	good := func(c Config, arch string) *writer {
		w := &writer{}
		w.str("general.architecture", arch)
		for name, v := range map[string]int{"embedding_length": c.Dim, "block_count": c.Layers, "feed_forward_length": c.FFN, "context_length": c.Context,
			"attention.head_count": c.Heads, "attention.head_count_kv": c.KVHeads, "rope.dimension_count": c.RopeDim} {
			w.u32("llama."+name, v)
		}
		return w
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		name  string
		build func() *writer
		want  string
	}{
		{"another architecture", func() *writer { return good(tiny, "gpt2") }, `architecture "gpt2" is not supported (llama and qwen2 are)`},
		{"no architecture", func() *writer { return &writer{} }, `architecture "" is not supported`},
		{"no tensors", func() *writer { return good(tiny, "llama") }, "token_embd.weight is missing"},
		{"a tensor missing", func() *writer {
			w := good(tiny, "llama")
			w.tensor("token_embd.weight", tensorQ8_0, randomRows(rng, tensorQ8_0, 40, 64), 64, 40)
			return w
		}, "blk.0.attn_norm.weight is missing"},
		{"embedding of another width", func() *writer {
			w := good(tiny, "llama")
			w.tensor("token_embd.weight", tensorQ8_0, randomRows(rng, tensorQ8_0, 40, 32), 32, 40)
			return w
		}, "the configuration wants 40 of 64"},
		{"fewer layers than claimed", func() *writer {
			more := tiny
			more.Layers = 3
			w := good(more, "llama")
			w.weights(tiny, tensorQ8_0, rng)
			return w
		}, "blk.2."},
		{"heads that do not divide", func() *writer {
			odd := tiny
			odd.KVHeads = 3
			w := good(odd, "llama")
			w.weights(tiny, tensorQ8_0, rng)
			return w
		}, "4 heads do not share 3"},
		{"no heads", func() *writer {
			none := tiny
			none.Heads = 0
			w := good(none, "llama")
			w.weights(tiny, tensorQ8_0, rng)
			return w
		}, "head count of 0"},
		{"context out of reason", func() *writer {
			long := tiny
			long.Context = math.MaxInt32
			w := good(long, "llama")
			w.weights(tiny, tensorQ8_0, rng)
			return w
		}, "context length"},
		{"negative count", func() *writer {
			w := good(tiny, "llama")
			w.key("llama.vocab", typeI32, make([]byte, 4))
			w.key("llama.attention.key_length", typeI32, []byte{255, 255, 255, 255})
			w.weights(tiny, tensorQ8_0, rng)
			return w
		}, "llama.attention.key_length"},
		{"epsilon not finite", func() *writer {
			w := good(tiny, "llama")
			w.f32("llama.attention.layer_norm_rms_epsilon", float32(math.Inf(1)))
			w.weights(tiny, tensorQ8_0, rng)
			return w
		}, "not finite"},
		{"experts", func() *writer {
			w := good(tiny, "llama")
			w.u32("llama.expert_count", 8)
			return w
		}, "mixture-of-experts"},
		{"rope scaling", func() *writer {
			w := good(tiny, "llama")
			w.str("llama.rope.scaling.type", "yarn")
			return w
		}, `rope scaling "yarn"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Parse(c.build().bytes())
			if err != nil {
				t.Fatal(err)
			}
			_, err = Load(f, Options{Threads: 1})
			refused(t, err, c.want)
		})
	}
}

// TestNumbers reads every integer type.
func TestNumbers(t *testing.T) {
	eight := binary.LittleEndian.AppendUint64(nil, 200)
	w := &writer{}
	for name, typ := range map[string]uint32{"u8": typeU8, "i16": typeI16, "u16": typeU16, "u32": typeU32, "i32": typeI32, "u64": typeU64, "i64": typeI64} {
		w.key(name, typ, eight[:width[typ]])
	}
	w.key("i8", typeI8, []byte{200})
	w.key("big", typeU64, []byte{0, 0, 0, 0, 0, 0, 0, 128})
	w.key("f64", typeF64, binary.LittleEndian.AppendUint64(nil, math.Float64bits(2.5)))
	f, err := Parse(w.bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"u8", "i16", "u16", "u32", "i32", "u64", "i64"} {
		if n, err := f.uint(name, 0); n != 200 || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	for _, name := range []string{"i8", "big", "f64"} {
		if n, err := f.uint(name, 0); err == nil {
			t.Errorf("%s is read as the count %d", name, n)
		}
	}
	if x, err := f.float("f64", 0); x != 2.5 || err != nil {
		t.Errorf("f64: %g, %v", x, err)
	}
}
