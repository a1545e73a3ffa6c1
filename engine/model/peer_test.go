package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"testing"
)

// peerGoldens is what llama.cpp computes with small models, see testdata/peer/make.py,
// which has the counterpart of everything here.
type peerGoldens struct {
	Peer   string            `json:"peer"`
	Tokens []int             `json:"tokens"`
	Pools  map[string][]byte `json:"pools"` // 40 blocks of 256 weights as llama.cpp quantises them
	Models []peerModel       `json:"models"`
}

type peerModel struct {
	Name, Arch, Type string
	Seed             uint64
	Sum              string `json:"sha256"`
	Logits           []byte // after the last positions, float32
	Unpacked         []byte // the same with the weights unpacked by llama.cpp and products in float32
	Untied, Down     string
	Bias, Freqs      bool
	Base, Factor     float32
}

// peerShape is the shape of all of them.
var peerShape = Config{Dim: 256, Layers: 2, Heads: 8, KVHeads: 2, HeadDim: 32, FFN: 256, Vocab: 96, Context: 64, RopeDim: 32}

const peerPool = 40

// splitmix is the generator of Steele, Lea and Flood.
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (s *splitmix) unit() float64 { return float64(s.next()>>40) / (1 << 24) }

// floatPool is the blocks that llama.cpp has quantised.
func floatPool() (b []byte) {
	r := splitmix(1)
	for range peerPool * span / 32 {
		x := r.next()
		size, mean := float64(1+x&7)/32, (float64(x>>3&7)-3.5)/256
		for range 32 {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32((r.unit()-0.5)*size+mean)))
		}
	}
	return b
}

// peerBuilder lays tensors out of the pools.
type peerBuilder struct {
	writer
	t     *testing.T
	pools map[string][]byte
	r     splitmix
	all   []byte
}

func (b *peerBuilder) matrix(name, kind string, rows, cols int) {
	pool, size := b.pools[kind], len(b.pools[kind])/peerPool
	var data []byte
	for range rows * cols / span {
		i := int(b.r.next()%peerPool) * size
		data = append(data, pool[i:i+size]...)
	}
	b.tensor(name, typeNamed(b.t, kind), data, uint64(cols), uint64(rows))
	b.all = append(b.all, data...)
}

func (b *peerBuilder) vector(name string, n int, low, high float64) {
	var data []byte
	for range n {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(low+(high-low)*b.r.unit())))
	}
	b.tensor(name, tensorF32, data, uint64(n))
	b.all = append(b.all, data...)
}

func typeNamed(t *testing.T, name string) uint32 {
	t.Helper()
	for _, k := range kinds {
		if k.name == name {
			return k.typ
		}
	}
	t.Fatalf("no type %s", name)
	return 0
}

// layer writes the tensors of one block.
func (b *peerBuilder) layer(p peerModel, prefix string) {
	c, down := peerShape, p.Type
	if p.Down != "" {
		down = p.Down
	}
	b.vector(prefix+"attn_norm.weight", c.Dim, 0.5, 1.5)
	for _, part := range []struct {
		name string
		rows int
	}{{"q", c.Heads * c.HeadDim}, {"k", c.KVHeads * c.HeadDim}, {"v", c.KVHeads * c.HeadDim}} {
		b.matrix(prefix+"attn_"+part.name+".weight", p.Type, part.rows, c.Dim)
		if p.Arch == "qwen2" || p.Bias {
			b.vector(prefix+"attn_"+part.name+".bias", part.rows, -0.5, 0.5)
		}
	}
	b.matrix(prefix+"attn_output.weight", p.Type, c.Dim, c.Heads*c.HeadDim)
	b.vector(prefix+"ffn_norm.weight", c.Dim, 0.5, 1.5)
	b.matrix(prefix+"ffn_gate.weight", p.Type, c.FFN, c.Dim)
	b.matrix(prefix+"ffn_up.weight", p.Type, c.FFN, c.Dim)
	b.matrix(prefix+"ffn_down.weight", down, c.Dim, c.FFN)
}

// build makes the model and checks that it is the one llama.cpp has computed.
func (p peerModel) build(t *testing.T, pools map[string][]byte) *Model {
	t.Helper()
	c := peerShape
	c.Arch = p.Arch
	b := &peerBuilder{t: t, pools: pools, r: splitmix(p.Seed)}
	b.shape(c)
	if p.Base > 0 {
		b.f32(p.Arch+".rope.freq_base", p.Base)
	}
	if p.Factor > 0 {
		b.str(p.Arch+".rope.scaling.type", "linear")
		b.f32(p.Arch+".rope.scaling.factor", p.Factor)
	}
	b.matrix("token_embd.weight", p.Type, c.Vocab, c.Dim)
	b.layer(p, "blk.0.")
	b.layer(p, "blk.1.")
	b.vector("output_norm.weight", c.Dim, 0.5, 1.5)
	if p.Untied != "" {
		b.matrix("output.weight", p.Untied, c.Vocab, c.Dim)
	}
	if p.Freqs {
		b.vector("rope_freqs.weight", c.RopeDim/2, 1, 8)
	}
	if sum := sha256.Sum256(b.all); hex.EncodeToString(sum[:]) != p.Sum {
		t.Fatalf("the tensors are not those of the golden")
	}
	return load(t, b.bytes(), 1)
}

// floatsOf reads little-endian float32s.
func floatsOf(b []byte) []float32 {
	x := make([]float32, len(b)/4)
	_ = binary.Read(bytes.NewReader(b), binary.LittleEndian, x)
	return x
}

// Bounds on the distance from llama.cpp. With float weights on both sides, only the
// order of sums and the last bits of exp differ: measured at most 4e-6 on logits of
// about 2. With unpacked weights ours rounds activations to 18 bits a block of 32,
// 2^-19 of the largest; measured at most 2.4e-5.
const (
	peerFloat  = 2e-5
	peerBlocks = 1e-4
)

// TestPeer computes what llama.cpp has computed. Its logits with unpacked weights
// leave no room for a wrong nibble, scale, minimum, bias or angle. Those with weights as they
// are also hold the rounding of activations to 8 bits (16-bit floats for F16 and
// BF16), so we must be no further from them than llama.cpp is from itself.
func TestPeer(t *testing.T) {
	data, err := os.ReadFile("testdata/peer/goldens.json")
	if err != nil {
		t.Fatal(err)
	}
	var g peerGoldens
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	g.Pools["F32"] = floatPool()
	for _, p := range g.Models {
		t.Run(p.Name, func(t *testing.T) {
			m := p.build(t, g.Pools)
			all := alone(t, m, g.Tokens, KVFloat32)
			exact, rounded := floatsOf(p.Unpacked), floatsOf(p.Logits)
			var got []float32
			for _, logits := range all[len(all)-len(exact)/peerShape.Vocab:] {
				got = append(got, logits...)
			}
			bound := float64(peerFloat)
			if m.layers[0].q.quantised() {
				bound = peerBlocks
			}
			near, far, own := apart(got, exact), apart(got, rounded), apart(rounded, exact)
			t.Logf("%.1e from %s with unpacked weights; %.1e as it is, which is %.1e from itself", near, g.Peer, far, own)
			if near > bound || far > own+bound {
				t.Errorf("%.1e from unpacked weights (at most %.1e), %.1e from %s as it is (at most %.1e)", near, bound, far, g.Peer, own+bound)
			}
		})
	}
}
