package workload

import (
	"time"

	"llmtop/engine/twin/knob"
)

// New makes the source of what the Config says. The knobs of the load are read from the
// board: those of a request when it is taken, the rate when Turned is called.
func New(c Config, seed uint64, board *knob.Board) (Source, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	var m mix
	for i, s := range c.resolved() {
		m.parts = append(m.parts, newStream(s, &c, scramble(seed+uint64(i)<<32), board))
	}
	if c.Trace != nil {
		m.parts = append(m.parts, newReplay(&c, seed, board))
	}
	return &m, nil
}

// context is the most tokens of a request.
func (c *Config) context() int {
	if c.Context > 0 {
		return c.Context
	}
	return maxContext
}

// mix is several sources as one.
type mix struct{ parts []Source }

// first is the part whose request comes first, nil when none will come.
func (m *mix) first() (Source, time.Duration) {
	var first Source
	least := never
	for _, p := range m.parts {
		if at, ok := p.Due(); ok && (first == nil || at < least) {
			first, least = p, at
		}
	}
	return first, least
}

func (m *mix) Due() (time.Duration, bool) {
	p, at := m.first()
	return at, p != nil
}

func (m *mix) Take() *Request {
	p, _ := m.first()
	return p.Take()
}

func (m *mix) Turned(now time.Duration) {
	for _, p := range m.parts {
		p.Turned(now)
	}
}
