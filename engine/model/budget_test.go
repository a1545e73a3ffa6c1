package model

import (
	"testing"
	"unsafe"
)

// held is the bytes behind a slice.
func held[T any](s []T) int64 {
	var one T
	return int64(cap(s)) * int64(unsafe.Sizeof(one))
}

// allocated is what the scratch space of a model really holds.
func (s *scratch) allocated() int64 {
	n := held(s.rows) + held(s.x) + held(s.cos) + held(s.sin) + held(s.q) + held(s.k) + held(s.v) + held(s.up) + held(s.added) + held(s.logits)
	for _, a := range []*activations{&s.normed, &s.attended, &s.gate} {
		n += held(a.x) + held(a.groups) + held(a.singles)
	}
	for _, scores := range s.scores {
		n += held(scores)
	}
	return n
}

// TestActivationBytes takes the most demanding steps of several sizes: every row has
// its logits wanted and one is at the end of the context.
func TestActivationBytes(t *testing.T) {
	for _, rows := range []int{1, 3, 4, 7, 32} {
		m := load(t, tinyFile(tensorQ8_0, 1), 2)
		pool := NewKVPool(m.Config(), 4*rows, 16, KVFloat32)
		for n := 1; n <= rows; n++ { // each number of rows groups them in another way
			var batch []Chunk
			for i := range n {
				batch = append(batch, Chunk{Tokens: []int{i}, Start: tiny.Context - 1, Blocks: sequence(4*i, 4), Logits: 1})
			}
			if _, err := m.Forward(pool, batch); err != nil {
				t.Fatal(err)
			}
		}
		got, want := m.scratch.allocated(), ActivationBytes(m.Config(), rows, tiny.Context, 2)
		if got > want || float64(got) < 0.8*float64(want) {
			t.Errorf("%d rows: %d bytes are allocated, %d budgeted", rows, got, want)
		}
	}
}

// TestWeightBytes is the bytes of the tensors of the file, in every type: nothing
// grows when a model is loaded.
func TestWeightBytes(t *testing.T) {
	for _, typ := range allTypes {
		m := load(t, modelFile(wide, typ, 1), 1)
		inFile := int64(0)
		f, err := Parse(modelFile(wide, typ, 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, tensor := range f.tensors {
			inFile += int64(len(tensor.data))
		}
		if got := m.WeightBytes(); got != inFile+int64(8*len(m.frequency)) {
			t.Errorf("type %s: %d bytes are held, the file has %d", kindOf(typ).name, got, inFile)
		}
	}
}
