package model

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// Models of others that are kept beside the repository, see the README there.
const public = "../../../shared/models/public/"

// greedyFrom extends a sequence by the best token n times, one token a step.
func greedyFrom(t *testing.T, m *Model, first, n int) []int {
	t.Helper()
	pool := NewKVPool(m.Config(), 1, n+1, KVFloat32)
	ids := []int{first}
	for i := range n {
		out, err := m.Forward(pool, []Chunk{{Tokens: ids[i:], Start: i, Blocks: []int{0}, Logits: 1}})
		if err != nil {
			t.Fatal(err)
		}
		best, _ := topTwo(out[0])
		ids = append(ids, best)
	}
	return ids
}

// TestStories260K writes the greedy text that the model's authors published with it
// (doc/stories260K.md of llama2.c, up to the end of its 256 steps), known by its hash.
func TestStories260K(t *testing.T) {
	const published = "30b2ffb07967932a88bfdf5e23b517a6f4cfcf7231db9e537360d3c12a4e4d10"
	m := beside(t, "public/stories260K.gguf")
	m.config.Context = 512 // of the original; the file says 128
	f, err := Open(public + "stories260K.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tokens, err := f.strings("tokenizer.ggml.tokens")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, id := range greedyFrom(t, m, 1, 256)[1:] {
		b.WriteString(tokens[id])
	}
	text := strings.TrimSpace(strings.NewReplacer("▁", " ", "<0x0A>", "\n").Replace(b.String()))
	if sum := sha256.Sum256([]byte(text)); hex.EncodeToString(sum[:]) != published {
		t.Errorf("the text is not the published one: %d bytes, hash %x", len(text), sum)
	}
}

// safetensors is a file of that format: a header in JSON and the data after it.
type safetensors struct {
	header map[string]json.RawMessage
	data   []byte
}

func readSafetensors(t *testing.T, path string) safetensors {
	t.Helper()
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no " + path)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(raw)
	s := safetensors{data: raw[8+n:]}
	if err := json.Unmarshal(raw[8:8+n], &s.header); err != nil {
		t.Fatal(err)
	}
	return s
}

// rows is the data and shape of a tensor of float32s.
func (s safetensors) rows(t *testing.T, name string) (data []byte, shape []uint64) {
	t.Helper()
	var e struct {
		Dtype   string    `json:"dtype"`
		Shape   []uint64  `json:"shape"`
		Offsets [2]uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(s.header[name], &e); err != nil || e.Dtype != "F32" {
		t.Fatalf("tensor %s of type %q: %v", name, e.Dtype, err)
	}
	return s.data[e.Offsets[0]:e.Offsets[1]], e.Shape
}

// interleave puts rows i and i+half of every head side by side: GGUF's llama turns
// neighbours where the original turns halves.
func interleave(data []byte, heads, headDim int) []byte {
	size, out := len(data)/(heads*headDim), []byte(nil)
	for h := range heads {
		for i := range headDim / 2 {
			for _, r := range []int{i, i + headDim/2} {
				at := (h*headDim + r) * size
				out = append(out, data[at:at+size]...)
			}
		}
	}
	return out
}

// convert writes TinyStories-656K as GGUF of an architecture: llama with interleaved
// rows, or qwen2 with the rows as they are and biases of zero.
func convert(t *testing.T, s safetensors, arch string) []byte {
	t.Helper()
	c := Config{Arch: arch, Dim: 128, Layers: 2, Heads: 8, KVHeads: 4, HeadDim: 16, FFN: 384, Context: 512, RopeDim: 16, NormEps: 1e-6}
	w := &writer{}
	w.shape(c)
	put := func(name, from string, heads int) {
		data, shape := s.rows(t, from)
		if heads > 0 && arch == "llama" {
			data = interleave(data, heads, c.HeadDim)
		}
		slices.Reverse(shape)
		w.tensor(name+".weight", tensorF32, data, shape...)
		if arch == "qwen2" && strings.Contains(from, "_proj") && strings.ContainsAny(name[len(name)-1:], "qkv") {
			w.tensor(name+".bias", tensorF32, make([]byte, 4*shape[1]), shape[1])
		}
	}
	put("token_embd", "lm_head.weight", 0)
	put("output_norm", "model.norm.weight", 0)
	for i, from := range []string{"model.layers.0.", "model.layers.1."} {
		p := []string{"blk.0.", "blk.1."}[i]
		put(p+"attn_norm", from+"input_layernorm.weight", 0)
		put(p+"attn_q", from+"self_attn.q_proj.weight", c.Heads)
		put(p+"attn_k", from+"self_attn.k_proj.weight", c.KVHeads)
		put(p+"attn_v", from+"self_attn.v_proj.weight", 0)
		put(p+"attn_output", from+"self_attn.o_proj.weight", 0)
		put(p+"ffn_norm", from+"post_attention_layernorm.weight", 0)
		put(p+"ffn_gate", from+"mlp.gate_proj.weight", 0)
		put(p+"ffn_up", from+"mlp.up_proj.weight", 0)
		put(p+"ffn_down", from+"mlp.down_proj.weight", 0)
	}
	return w.bytes()
}

// TestTinyStories converts a public model and tells a story from its start token; both orders of
// rotated pairs must tell the same one.
func TestTinyStories(t *testing.T) {
	want := []int{
		1, 147, 201, 282, 215, 286, 598, 1662, 356, 499, 826, 1363, 1145, 1652, 615, 242, 1482, 951, 628, 499, 826, 872, 921, 318, 385, 628,
		499, 826, 617, 242, 198, 1047, 425, 1939, 122, 1924, 1171, 94, 303, 328, 229, 521, 776, 115, 1139, 312, 447, 1456, 319, 115, 133,
		114, 100, 167, 753, 1665, 361, 303, 1900, 319, 467, 730, 717, 532, 856, 645, 1188, 108, 319, 135, 1629, 319, 53, 382, 122, 1765,
		1398, 313, 1150, 1095, 1250, 807, 1456, 319, 1095, 1401, 1023, 319, 1301, 1456, 319, 1497, 1481, 262, 1497, 738, 776, 1497, 1481,
		262, 1497, 738, 776, 1497, 1303, 418, 319, 135, 1497, 738, 122, 994, 669, 93, 319, 1576, 426, 896, 712, 833, 263, 303, 115, 850,
		544, 1737, 790, 1685, 923, 441, 80, 741, 986, 496, 10, 208, 183, 209, 210, 2,
	}
	s := readSafetensors(t, public+"model.safetensors")
	for _, arch := range []string{"llama", "qwen2"} {
		got := greedyFrom(t, load(t, convert(t, s, arch), 0), 1, len(want)-1)
		if !slices.Equal(got, want) {
			t.Errorf("%s: tokens %v", arch, got)
		}
		t.Log(storyText(t, got))
	}
}

// storyText is tokens as text by the vocabulary of the model's tokenizer.json.
func storyText(t *testing.T, ids []int) string {
	t.Helper()
	raw, err := os.ReadFile(public + "tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Model struct {
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	pieces := make([]string, len(file.Model.Vocab))
	for piece, id := range file.Model.Vocab {
		pieces[id] = piece
	}
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(pieces[id])
	}
	return strings.ReplaceAll(b.String(), "▁", " ")
}
