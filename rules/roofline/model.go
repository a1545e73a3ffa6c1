package roofline

import "math"

// Model is a row of the model table: the shape of a decoder, as its config.json has it.
type Model struct {
	Name    string   // as scenarios have it: "llama-3-70b"
	Aliases []string // other names of the same shape; the first is that of its repository

	Layers       int
	Hidden       int
	Heads        int
	KVHeads      int // of grouped-query attention
	HeadDim      int
	Intermediate int // of a dense layer; the feed-forward part has three matrices
	Vocab        int
	Tied         bool // the embeddings are the output head, too
	QKVBias      bool

	Experts            int // routed ones of a layer; 0: a dense model
	ExpertsActive      int // of them a token's
	ExpertsShared      int // that every token takes
	ExpertIntermediate int
	DenseLayers        int // the first, without experts

	MLA MLA // multi-head latent attention; zero: grouped-query attention

	Params       float64 // total, as published
	ActiveParams float64 // that a token meets, as published
	Context      int     // longest, in tokens
}

// MLA is the shape of multi-head latent attention: keys and values are one latent vector for all
// heads, beside a part of the key that carries the position.
type MLA struct {
	Query  int // rank of the queries' own compression; 0: none
	Latent int // numbers that are cached, and
	Rope   int // those of the position
	Nope   int // of a head's key without position
	Value  int // of a head's value
}

// MoE reports whether it has experts.
func (m *Model) MoE() bool { return m.Experts > 0 }

// AttentionWidth is heads × head dimension: what the two products of attention are wide, for a
// pair of tokens. With MLA the mean of a key's and a value's.
func (m *Model) AttentionWidth() float64 {
	if m.MLA.Latent > 0 {
		return float64(m.Heads) * float64(m.MLA.Nope+m.MLA.Rope+m.MLA.Value) / 2
	}
	return float64(m.Heads * m.HeadDim)
}

// attention are the weights of the attention of a layer.
func (m *Model) attention() float64 {
	h, heads := float64(m.Hidden), float64(m.Heads)
	if a := m.MLA; a.Latent > 0 {
		key, value := float64(a.Nope+a.Rope), float64(a.Value)
		query := h * heads * key
		if a.Query > 0 {
			query = float64(a.Query) * (h + heads*key)
		}
		latent := h*float64(a.Latent+a.Rope) + float64(a.Latent)*heads*float64(a.Nope+a.Value)
		return query + latent + heads*value*h
	}
	q, kv := heads*float64(m.HeadDim), float64(m.KVHeads*m.HeadDim)
	n := 2*h*q + 2*h*kv
	if m.QKVBias {
		n += q + 2*kv
	}
	return n
}

// expert are the weights of one expert of a layer.
func (m *Model) expert() float64 { return 3 * float64(m.Hidden) * float64(m.ExpertIntermediate) }

// dense are the weights of all layers that each token meets, routed experts left out.
func (m *Model) dense() float64 {
	h, layers := float64(m.Hidden), float64(m.Layers)
	n := layers * m.attention()
	if !m.MoE() {
		return n + layers*3*h*float64(m.Intermediate)
	}
	sparse := layers - float64(m.DenseLayers)
	n += float64(m.DenseLayers) * 3 * h * float64(m.Intermediate)
	return n + sparse*(float64(m.ExpertsShared)*m.expert()+h*float64(m.Experts))
}

// routed are the weights of all routed experts.
func (m *Model) routed() float64 {
	if !m.MoE() {
		return 0
	}
	return float64(m.Layers-m.DenseLayers) * float64(m.Experts) * m.expert()
}

// Head is the weights of the output layer, and as many of the embeddings.
func (m *Model) Head() float64 { return float64(m.Vocab) * float64(m.Hidden) }

// Total derives the parameters from the shape.
func (m *Model) Total() float64 {
	n := m.dense() + m.routed() + m.Head()
	if !m.Tied {
		n += m.Head()
	}
	return n
}

// Active derives the parameters that a token meets: of the routed experts only its own.
func (m *Model) Active() float64 {
	if !m.MoE() {
		return m.Total()
	}
	return m.Total() - m.routed()*(1-float64(m.ExpertsActive)/float64(m.Experts))
}

// Dense are the weights of the layers that every token is multiplied with: no embeddings, no
// output head, no routed experts. Routed are those of all routed experts.
func (m *Model) Dense() float64 { return m.dense() }

// Routed are the weights of all routed experts; 0 of a dense model.
func (m *Model) Routed() float64 { return m.routed() }

// ExpertsTouched is the share of a layer's routed experts that some of so many tokens go to, each
// to its own at random: 1-(1-k/E)^tokens. 0 of a dense model.
func (m *Model) ExpertsTouched(tokens float64) float64 {
	if !m.MoE() {
		return 0
	}
	return 1 - math.Pow(1-float64(m.ExpertsActive)/float64(m.Experts), tokens)
}

// KVNumbers is how many numbers a token leaves in the cache of one layer: a key and a value for
// each KV head, or with MLA one latent vector and a position.
func (m *Model) KVNumbers() int {
	if m.MLA.Latent > 0 {
		return m.MLA.Latent + m.MLA.Rope
	}
	return 2 * m.KVHeads * m.HeadDim
}

// KVBytesPerToken is what a token takes in the KV cache of the whole model.
func (m *Model) KVBytesPerToken(kv DType) float64 {
	return float64(m.Layers*m.KVNumbers()) * kv.KVBytes()
}

// WeightBytes is what the model takes in memory. Embeddings and output head stay bf16, whatever
// the layers are kept in: so quantised checkpoints do.
func (m *Model) WeightBytes(weights DType) float64 {
	layers := m.dense() + m.routed()
	return layers*weights.WeightBytes() + (m.Total()-layers)*BF16.WeightBytes()
}
