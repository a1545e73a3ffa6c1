package workload

import (
	"math"
	"math/rand/v2"

	"llmtop/engine/twin/knob"
)

// defaultSchemas is how many grammars there are when only the share of guided answers is said.
const defaultSchemas = 20

// defaultGiant is the length of giant prompts when only their share is said.
const defaultGiant = 32_768

// imageTokens is what an image adds to a prompt: usual sizes come to 576 (LLaVA-1.5, 336 pixels square) to
// about 1300 (Qwen2-VL at one megapixel).
const imageTokens = 900

// What the uniform numbers of a request are for.
const (
	uClass = iota
	uStream
	uSlow
	uAdapter
	uGuided
	uSchema
	uImage
	uGiant
	uReuse
	uSystem
	uDocument
	uSession
	uEnd
	uBytes
	uniforms
)

// numbers gives each request random numbers of its own, which follow from the seed and its
// place, so that a turned knob changes what it is for and nothing else.
type numbers struct {
	board *knob.Board
	seed  uint64
	n     uint64 // requests so far
	pcg   rand.PCG
	rng   *rand.Rand // over pcg
	u     [uniforms]float64
}

// draw begins the next request. All its uniform numbers are drawn, needed or not.
func (m *numbers) draw() *[uniforms]float64 {
	m.n++
	m.pcg.Seed(m.seed, scramble(m.seed+m.n))
	for i := range m.u {
		m.u[i] = float64(m.pcg.Uint64()>>11) / (1 << 53)
	}
	return &m.u
}

// amount is what a knob says, or else what is so by itself.
func (m *numbers) amount(id knob.ID, own float64) float64 {
	if v := m.board.Value(id); !math.IsNaN(v) {
		return v
	}
	return own
}

// extras are what a request may ask for beside text.
func (m *numbers) extras(r *Request, s *Stream, u *[uniforms]float64) {
	r.Slow = u[uSlow] < m.amount(knob.SlowReaders, s.Slow)
	r.Adapter = int(rank(u[uAdapter], int(m.amount(knob.Adapters, float64(s.Adapters))), 1, 1))
	if u[uGuided] < m.amount(knob.Guided, s.Guided) {
		n := m.amount(knob.Schemas, float64(s.Schemas))
		if n == 0 {
			n = defaultSchemas
		}
		r.Schema = int(rank(u[uSchema], int(n), 1, 1))
	}
	if u[uImage] < m.amount(knob.Images, s.Images) {
		r.Images = 1
	}
}

func (m *numbers) giant(u *[uniforms]float64) bool { return u[uGiant] < m.amount(knob.GiantPrompts, 0) }

func (m *numbers) giantTokens() int { return int(m.amount(knob.GiantTokens, defaultGiant)) }

// textBytes is how long the text of a prompt is; images are no text.
func textBytes(r *Request, each float64, u *[uniforms]float64) int {
	return int(float64(max(1, r.Prompt-r.Images*imageTokens)) * each * (0.9 + 0.2*u[uBytes]))
}
