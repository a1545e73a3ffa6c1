package model

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// writer builds GGUF files for tests.
type writer struct {
	version uint32
	keys    []byte
	nKeys   uint64
	table   []byte
	data    []byte
	n       uint64
}

func (w *writer) text(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

// key adds a metadata value given its bytes.
func (w *writer) key(name string, typ uint32, raw []byte) {
	w.keys = binary.LittleEndian.AppendUint32(w.text(w.keys, name), typ)
	w.keys = append(w.keys, raw...)
	w.nKeys++
}

func (w *writer) str(name, s string) { w.key(name, typeString, w.text(nil, s)) }
func (w *writer) u32(name string, v int) {
	w.key(name, typeU32, binary.LittleEndian.AppendUint32(nil, uint32(v)))
}
func (w *writer) f32(name string, v float32) {
	w.key(name, typeF32, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
}

func (w *writer) array(name string, elem uint32, n uint64, raw []byte) {
	head := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, elem), n)
	w.key(name, typeArray, append(head, raw...))
}

// entry adds a line of the tensor table as it stands.
func (w *writer) entry(name string, dims []uint64, typ uint32, offset uint64) {
	w.table = binary.LittleEndian.AppendUint32(w.text(w.table, name), uint32(len(dims)))
	for _, d := range dims {
		w.table = binary.LittleEndian.AppendUint64(w.table, d)
	}
	w.table = binary.LittleEndian.AppendUint32(w.table, typ)
	w.table = binary.LittleEndian.AppendUint64(w.table, offset)
	w.n++
}

// tensor adds a tensor with its data.
func (w *writer) tensor(name string, typ uint32, data []byte, dims ...uint64) {
	w.entry(name, dims, typ, uint64(len(w.data)))
	w.data = append(w.data, data...)
	for len(w.data)%32 != 0 {
		w.data = append(w.data, 0)
	}
}

func (w *writer) bytes() []byte {
	b := append([]byte("GGUF"), binary.LittleEndian.AppendUint32(nil, max(w.version, 3))...)
	b = binary.LittleEndian.AppendUint64(b, w.n)
	b = binary.LittleEndian.AppendUint64(b, w.nKeys)
	b = append(append(b, w.keys...), w.table...)
	for len(b)%32 != 0 {
		b = append(b, 0)
	}
	return append(b, w.data...)
}

// tiny is the shape of the models that tests build.
var tiny = Config{Dim: 64, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 16, FFN: 96, Vocab: 40, Context: 64, RopeDim: 16}

// wide is the same with rows of whole super-blocks, for the K-types.
var wide = Config{Dim: 256, Layers: 1, Heads: 8, KVHeads: 2, HeadDim: 32, FFN: 256, Vocab: 40, Context: 64, RopeDim: 32}

// describe writes the metadata of a shape and a vocabulary for it.
func (w *writer) describe(c Config) {
	w.shape(c)
	w.f32(cmp.Or(c.Arch, "llama")+".rope.freq_base", 10000)
	w.vocab(c.Vocab)
}

// shape writes the counts.
func (w *writer) shape(c Config) {
	arch := cmp.Or(c.Arch, "llama")
	w.str("general.architecture", arch)
	w.str("general.name", "tiny")
	for name, v := range map[string]int{"embedding_length": c.Dim, "block_count": c.Layers, "feed_forward_length": c.FFN, "context_length": c.Context,
		"attention.head_count": c.Heads, "attention.head_count_kv": c.KVHeads, "rope.dimension_count": c.RopeDim} {
		w.u32(arch+"."+name, v)
	}
	if c.HeadDim*c.Heads != c.Dim {
		w.u32(arch+".attention.key_length", c.HeadDim)
		w.u32(arch+".attention.value_length", c.HeadDim)
	}
	w.f32(arch+".attention.layer_norm_rms_epsilon", cmp.Or(c.NormEps, 1e-5))
}

func (w *writer) vocab(n int) {
	var tokens, scores, types []byte
	for i := range n {
		typ := uint32(1)
		if i < 3 {
			typ = 3
		}
		tokens = w.text(tokens, string(rune('0'+i)))
		scores = binary.LittleEndian.AppendUint32(scores, math.Float32bits(float32(-i)))
		types = binary.LittleEndian.AppendUint32(types, typ)
	}
	w.str("tokenizer.ggml.model", "llama")
	w.array("tokenizer.ggml.tokens", typeString, uint64(n), tokens)
	w.array("tokenizer.ggml.scores", typeF32, uint64(n), scores)
	w.array("tokenizer.ggml.token_type", typeI32, uint64(n), types)
}

// weights writes random tensors of one type for a shape, F32 where a row does not fill
// the type's blocks.
func (w *writer) weights(c Config, typ uint32, rng *rand.Rand) {
	matrix := func(name string, rows, cols int) {
		typ := typ
		if cols%kindOf(typ).weights != 0 {
			typ = tensorF32
		}
		w.tensor(name, typ, randomRows(rng, typ, rows, cols), uint64(cols), uint64(rows))
	}
	vector := func(name string) {
		var b []byte
		for range c.Dim {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(0.8+0.4*rng.Float32()))
		}
		w.tensor(name, tensorF32, b, uint64(c.Dim))
	}
	bias := func(name string, n int) {
		if c.Arch == "qwen2" {
			w.tensor(name, tensorF32, randomRows(rng, tensorF32, 1, n), uint64(n))
		}
	}
	matrix("token_embd.weight", c.Vocab, c.Dim)
	for i := range c.Layers {
		p := "blk." + string(rune('0'+i)) + "."
		vector(p + "attn_norm.weight")
		matrix(p+"attn_q.weight", c.Heads*c.HeadDim, c.Dim)
		matrix(p+"attn_k.weight", c.KVHeads*c.HeadDim, c.Dim)
		matrix(p+"attn_v.weight", c.KVHeads*c.HeadDim, c.Dim)
		bias(p+"attn_q.bias", c.Heads*c.HeadDim)
		bias(p+"attn_k.bias", c.KVHeads*c.HeadDim)
		bias(p+"attn_v.bias", c.KVHeads*c.HeadDim)
		matrix(p+"attn_output.weight", c.Dim, c.Heads*c.HeadDim)
		vector(p + "ffn_norm.weight")
		matrix(p+"ffn_gate.weight", c.FFN, c.Dim)
		matrix(p+"ffn_up.weight", c.FFN, c.Dim)
		matrix(p+"ffn_down.weight", c.Dim, c.FFN)
	}
	vector("output_norm.weight")
}

// allTypes is every tensor type that can be loaded.
var allTypes = []uint32{tensorF32, tensorF16, tensorBF16, tensorQ8_0, tensorQ4_0, tensorQ4_K, tensorQ5_K, tensorQ6_K}

// randomRows is the data of a matrix with weights of about 0.2 in size.
func randomRows(rng *rand.Rand, typ uint32, rows, cols int) []byte {
	if k := kindOf(typ); k.weights > 1 {
		return randomBlocks(rng, k, rows*cols/k.weights)
	}
	var b []byte
	for range rows * cols {
		switch typ {
		case tensorF32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(rng.NormFloat64()*0.2)))
		case tensorBF16:
			b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(float32(rng.NormFloat64()*0.2))>>16))
		default: // exponents -6 to -3 with any sign and fraction
			b = binary.LittleEndian.AppendUint16(b, uint16(rng.Uint32()&0x83FF|(9+rng.Uint32N(4))<<10))
		}
	}
	return b
}

// randomBlocks is blocks of random bytes with float16 scales that suit the type.
func randomBlocks(rng *rand.Rand, k *kind, n int) []byte {
	scale := map[uint32]uint16{tensorQ8_0: 0x1400, tensorQ4_0: 0x2400, tensorQ4_K: 0x1000, tensorQ5_K: 0x0C00, tensorQ6_K: 0x0400}[k.typ]
	data := make([]byte, n*k.bytes)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	for i := 0; i < len(data); i += k.bytes {
		for j, at := range k.scales {
			binary.LittleEndian.PutUint16(data[i+at:], scale+uint16(rng.Uint32N(1024))+uint16(j)<<12)
		}
	}
	return data
}

// tinyFile is a whole random model.
func tinyFile(typ uint32, seed uint64) []byte { return modelFile(tiny, typ, seed) }

func modelFile(c Config, typ uint32, seed uint64) []byte {
	w := &writer{}
	w.describe(c)
	w.weights(c, typ, rand.New(rand.NewPCG(seed, 0)))
	return w.bytes()
}

// load parses and loads a file that must be right.
func load(t testing.TB, data []byte, threads int) *Model {
	t.Helper()
	f, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(f, Options{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// shipped loads the shipped model.
func shipped(t testing.TB, threads int) *Model { return load(t, Oncall(), threads) }

// sequence is n numbers from first.
func sequence(first, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = first + i
	}
	return s
}
