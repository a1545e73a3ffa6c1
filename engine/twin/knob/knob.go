// Package knob names what can be changed of a simulated engine while it runs: its load, its
// settings, its GPUs, its host. A change turns a physical quantity; what an observer sees of
// it follows from the model, never from the knob. So a fault and its look-alike differ in what
// they do, as they would on a real host.
package knob

import "fmt"

// ID is one of the knobs; Table has them by it.
type ID int

// Kind says what values a knob takes and how they are written.
type Kind int

// The kinds.
const (
	Factor Kind = iota // "×0.3" or "x0.3": so many times what it was at the start
	Amount             // "400W", "20ms", "0.05": replaces what the model has by itself
	Switch             // "on" or "off"
	Moment             // something that happens once: "xid 79", "restart"
)

// Scope says of what there is one each.
type Scope int

// The scopes. A change that names no GPU or replica is for all of them.
const (
	Whole      Scope = iota
	PerGPU           // "gpu0 power_cap 400W"; GPUs are numbered through all replicas
	PerReplica       // "replica1 kernel ×0.5"
)

// Knob is what a scenario can turn.
type Knob struct {
	Name    string
	Kind    Kind
	Scope   Scope
	Unit    string  // of an Amount: W, C, MHz, ms, s, cores, GiB, GB/s, MB/s, us; "" is a number or share
	Default float64 // as it is before the first change: 1 of a Factor, NaN where the model decides
	Min     float64 // the smallest and the
	Max     float64 // largest value that makes sense
	Integer bool    // only whole numbers
	Doc     string  // what it changes, for people
}

// Change is one turn of a knob.
type Change struct {
	Knob   ID
	Target int // GPU or replica; All: every one
	Value  float64
	Reset  bool // back to Default
}

// All is the Target of a change for every GPU or replica.
const All = -1

// Board holds the values of all knobs at one time.
type Board struct {
	values   [NumKnobs][]float64
	happened []Change // moments not yet taken
}

// NewBoard has every knob at its default, for so many GPUs and replicas.
func NewBoard(gpus, replicas int) *Board {
	b := new(Board)
	for id := range b.values {
		n := 1
		switch Table[id].Scope {
		case PerGPU:
			n = gpus
		case PerReplica:
			n = replicas
		}
		b.values[id] = make([]float64, n)
		for i := range b.values[id] {
			b.values[id][i] = Table[id].Default
		}
	}
	return b
}

// Value is that of a knob that there is one of.
func (b *Board) Value(id ID) float64 { return b.values[id][0] }

// At is the value for one GPU or replica.
func (b *Board) At(id ID, n int) float64 { return b.values[id][n] }

// On reports whether a Switch that there is one of is on.
func (b *Board) On(id ID) bool { return b.values[id][0] != 0 }

// OnAt reports whether a Switch is on for one GPU or replica.
func (b *Board) OnAt(id ID, n int) bool { return b.values[id][n] != 0 }

// Apply turns a knob.
func (b *Board) Apply(c Change) error {
	if c.Knob < 0 || c.Knob >= NumKnobs {
		return fmt.Errorf("there is no knob %d", int(c.Knob))
	}
	k, all := &Table[c.Knob], b.values[c.Knob]
	if c.Target != All && (c.Target < 0 || c.Target >= len(all)) {
		return fmt.Errorf("%s: there is no number %d, there are %d", k.Name, c.Target, len(all))
	}
	if k.Kind == Moment && !c.Reset {
		b.happened = append(b.happened, c)
	}
	value := c.Value
	if c.Reset {
		value = k.Default
	}
	for i := range all {
		if c.Target == All || c.Target == i {
			all[i] = value
		}
	}
	return nil
}

// Take returns the moments of one knob that have come since the last call.
func (b *Board) Take(id ID) []Change {
	var taken []Change
	rest := b.happened[:0]
	for _, c := range b.happened {
		if c.Knob == id {
			taken = append(taken, c)
		} else {
			rest = append(rest, c)
		}
	}
	b.happened = rest
	return taken
}

// Len is how many GPUs or replicas the knob has a value for, 1 of one of the whole.
func (b *Board) Len(id ID) int { return len(b.values[id]) }
