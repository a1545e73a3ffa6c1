package model

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// TestRefusesEndless puts a NaN or an infinite number into every scale, weight, norm and
// bias in turn.
func TestRefusesEndless(t *testing.T) {
	half := []byte{0, 0x7C}
	for typ, bad := range map[uint32][]byte{tensorF32: {0, 0, 0x80, 0x7F}, tensorF16: half, tensorBF16: {0xC0, 0x7F},
		tensorQ8_0: half, tensorQ4_0: half, tensorQ4_K: half, tensorQ5_K: half, tensorQ6_K: half} {
		c := wide
		c.Arch = "qwen2"
		good := modelFile(c, typ, 1)
		f, err := Parse(good)
		if err != nil {
			t.Fatal(err)
		}
		for name, tensor := range f.tensors {
			k, spoil := kindOf(tensor.typ), bad
			if tensor.typ == tensorF32 {
				spoil = []byte{0, 0, 0x80, 0xFF}
			}
			for _, offset := range append([]int{0}, k.scales...) {
				if k.weights > 1 && offset == 0 && k.scales[0] != 0 {
					continue // Q6_K begins with weights
				}
				data := bytes.Clone(good)
				last := len(tensor.data) - k.bytes // of the last block
				copy(data[bytes.Index(data, tensor.data)+last+offset:], spoil)
				broken, err := Parse(data)
				if err != nil {
					t.Fatal(err)
				}
				_, err = Load(broken, Options{Threads: 1})
				refused(t, err, "tensor \""+name+"\" holds a number that is not finite")
			}
		}
	}
}

// TestLoadRefusesTensors changes the tensors or a key of a good file.
func TestLoadRefusesTensors(t *testing.T) {
	qwen := tiny
	qwen.Arch = "qwen2"
	floats := func(v ...float32) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	for _, c := range []struct {
		name  string
		c     Config
		build func(w *writer)
		want  string
	}{
		{"factor of zero", tiny, func(w *writer) {
			w.tensor("rope_freqs.weight", tensorF32, floats(1, 2, 0, 1, 1, 1, 1, 1), 8)
		}, "rope_freqs.weight has a factor of 0"},
		{"factors of another count", tiny, func(w *writer) {
			w.tensor("rope_freqs.weight", tensorF32, floats(1, 2), 2)
		}, "rope_freqs.weight is not a vector of 8 floats"},
		{"bias of another length", tiny, func(w *writer) {
			w.tensor("blk.0.attn_q.bias", tensorF32, floats(1, 2), 2)
		}, "attn_q.bias is not a vector of 64 floats"},
		{"tensors of another network", tiny, func(w *writer) {
			w.tensor("blk.0.attn_q_norm.weight", tensorF32, floats(1), 1)
		}, `"blk.0.attn_q_norm.weight" is not part of`},
		{"more layers than claimed", tiny, func(w *writer) {
			w.tensor("blk.2.attn_norm.weight", tensorF32, floats(1), 1)
		}, `"blk.2.attn_norm.weight" is not part of`},
		{"scaling of zero", tiny, func(w *writer) {
			w.str("llama.rope.scaling.type", "linear")
			w.f32("llama.rope.scaling.factor", 0)
		}, "rope scaling factor 0 is not positive"},
		{"yarn", qwen, func(w *writer) { w.str("qwen2.rope.scaling.type", "yarn") }, `rope scaling "yarn" is not supported (none, linear`},
		{"experts", qwen, func(w *writer) { w.u32("qwen2.expert_count", 60) }, "mixture-of-experts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &writer{}
			w.describe(c.c)
			w.weights(c.c, tensorQ8_0, rand.New(rand.NewPCG(1, 0)))
			c.build(w)
			f, err := Parse(w.bytes())
			if err != nil {
				t.Fatal(err)
			}
			_, err = Load(f, Options{Threads: 1})
			refused(t, err, c.want)
		})
	}
}

// TestQwenNeedsBias refuses a qwen2 file without them: queries and keys would be those of
// another model.
func TestQwenNeedsBias(t *testing.T) {
	c := tiny
	c.Arch = "qwen2"
	w := &writer{}
	w.describe(c)
	w.weights(tiny, tensorQ8_0, rand.New(rand.NewPCG(1, 0)))
	f, err := Parse(w.bytes())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Load(f, Options{Threads: 1})
	refused(t, err, "blk.0.attn_q.bias is missing")
}
