package model

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
)

// FuzzParse reads, loads and runs what it is given: an error or logits, never a
// panic, and no more memory than a multiple of the file.
func FuzzParse(f *testing.F) {
	for _, typ := range allTypes {
		for _, arch := range []string{"llama", "qwen2"} {
			c := Config{Arch: arch, Dim: max(32, kindOf(typ).weights), Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 2, FFN: 4, Vocab: 4, Context: 8, RopeDim: 2}
			data := modelFile(c, typ, 1)
			load(f, data, 1) // a seed that is refused would lead nowhere
			f.Add(data)
			f.Add(data[:len(data)/2])
		}
	}
	w := &writer{}
	w.array("a", typeArray, 1, append(binary.LittleEndian.AppendUint32(nil, typeU8), 3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3))
	w.tensor("t", tensorF16, make([]byte, 64), 4, 2, 4)
	f.Add(w.bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		before := totalAlloc()
		tryModel(t, data)
		if used, limit := totalAlloc()-before, 32*uint64(len(data))+1<<20; used > limit {
			t.Errorf("%d bytes are allocated for a file of %d", used, len(data))
		}
	})
}

func totalAlloc() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.TotalAlloc
}

// oneLine checks that an error is fit for a terminal.
func oneLine(t *testing.T, err error) {
	t.Helper()
	if s := err.Error(); strings.ContainsAny(s, "\n\r\x1b") || len(s) > 1000 {
		t.Errorf("error %q", s)
	}
}

// tryModel takes a file as far as it goes.
func tryModel(t *testing.T, data []byte) {
	t.Helper()
	file, err := Parse(data)
	if err != nil {
		oneLine(t, err)
		return
	}
	_, _ = file.Vocab() // must not panic
	m, err := Load(file, Options{Threads: 1})
	if err != nil {
		oneLine(t, err)
		return
	}
	defer m.Close()
	if m.WeightBytes() > int64(2*len(data)) {
		t.Errorf("%d bytes of weights in a file of %d", m.WeightBytes(), len(data))
	}
	if _, err := m.Forward(NewKVPool(m.Config(), 1, 4, KVFloat32), []Chunk{{Tokens: []int{0}, Blocks: []int{0}, Logits: 1}}); err != nil {
		t.Fatal(err)
	}
}
