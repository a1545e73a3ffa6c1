package model

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refused checks that an error is one line with a text in it.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", want)
	}
	if s := err.Error(); !strings.Contains(s, want) || strings.ContainsAny(s, "\n\r\x1b") || len(s) > 300 {
		t.Errorf("error %q, want one clear line with %q", s, want)
	}
}

func TestParseRefuses(t *testing.T) {
	huge := binary.LittleEndian.AppendUint64(nil, 1<<62)
	for _, c := range []struct {
		name  string
		build func(w *writer)
		want  string
	}{
		{"key twice", func(w *writer) { w.str("a", "x"); w.str("a", "y") }, "twice"},
		{"string longer than the file", func(w *writer) { w.key("a", typeString, huge) }, "truncated"},
		{"key longer than any", func(w *writer) { w.str(strings.Repeat("k", maxKeyBytes+1), "x") }, "a name of"},
		{"control bytes in a key", func(w *writer) { w.str("\x1b[31m\n", ""); w.str("\x1b[31m\n", "") }, "twice"},
		{"unknown value type", func(w *writer) { w.key("a", 13, nil) }, "unknown value type 13"},
		{"array longer than the file", func(w *writer) { w.array("a", typeU8, 1<<40, nil) }, "truncated"},
		{"array size overflow", func(w *writer) { w.array("a", typeF64, 1<<61, nil) }, "truncated"},
		{"array of strings cut off", func(w *writer) { w.array("a", typeString, 2, huge) }, "truncated"},
		{"unknown element type", func(w *writer) { w.array("a", 99, 1, make([]byte, 8)) }, "element type 99"},
		{"arrays without end", func(w *writer) {
			one := append(binary.LittleEndian.AppendUint32(nil, typeArray), 1, 0, 0, 0, 0, 0, 0, 0)
			w.key("a", typeArray, bytes.Repeat(one, 1000))
		}, "nested too deep"},
		{"alignment zero", func(w *writer) { w.u32("general.alignment", 0) }, "general.alignment"},
		{"alignment odd", func(w *writer) { w.u32("general.alignment", 24) }, "general.alignment"},
		{"alignment text", func(w *writer) { w.str("general.alignment", "32") }, "general.alignment"},
		{"alignment huge", func(w *writer) { w.u32("general.alignment", 1<<30) }, "general.alignment"},
		{"no dimensions", func(w *writer) { w.entry("t", nil, tensorF32, 0) }, "0 dimensions"},
		{"five dimensions", func(w *writer) { w.entry("t", []uint64{1, 1, 1, 1, 1}, tensorF32, 0) }, "5 dimensions"},
		{"dimension zero", func(w *writer) { w.entry("t", []uint64{4, 0}, tensorF32, 0) }, "dimension of 0"},
		{"dimension huge", func(w *writer) { w.entry("t", []uint64{1 << 63}, tensorF32, 0) }, "dimension of 9223372036854775808"},
		{"product overflows", func(w *writer) { w.entry("t", []uint64{1 << 30, 1 << 30, 1 << 30, 16}, tensorF32, 0) }, "overflow"},
		{"data beyond the file", func(w *writer) { w.entry("t", []uint64{1 << 30, 1 << 30}, tensorF32, 0) }, "truncated"},
		{"offset beyond the file", func(w *writer) { w.entry("t", []uint64{1}, tensorF32, 1<<63) }, "truncated"},
		{"offset unaligned", func(w *writer) {
			w.tensor("a", tensorF32, make([]byte, 64), 16)
			w.entry("t", []uint64{1}, tensorF32, 4)
		}, "not a multiple of 32"},
		{"row not whole blocks", func(w *writer) { w.entry("t", []uint64{33}, tensorQ8_0, 0) }, "blocks of 32"},
		{"known other type", func(w *writer) { w.entry("t", []uint64{256}, 11, 0) }, "type Q3_K is not supported (F32, F16, BF16, Q8_0, Q4_0, Q4_K, Q5_K, Q6_K are)"},
		{"unknown type", func(w *writer) { w.entry("t", []uint64{256}, 77, 0) }, "type 77 is not supported"},
		{"name too long", func(w *writer) { w.entry(strings.Repeat("n", maxName+1), []uint64{1}, tensorF32, 0) }, "a name of"},
		{"tensor twice", func(w *writer) {
			w.tensor("t", tensorF32, make([]byte, 4), 1)
			w.tensor("t", tensorF32, make([]byte, 4), 1)
		}, `"t" appears twice`},
		{"tensors overlap", func(w *writer) {
			w.tensor("t", tensorF32, make([]byte, 64), 16)
			w.entry("u", []uint64{8}, tensorF32, 32)
		}, "overlap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &writer{}
			c.build(w)
			_, err := Parse(w.bytes())
			refused(t, err, c.want)
		})
	}
}

func TestParseRefusesHeaders(t *testing.T) {
	counts := func(tensors, keys uint64) string {
		b := binary.LittleEndian.AppendUint64([]byte("GGUF\x03\x00\x00\x00"), tensors)
		return string(binary.LittleEndian.AppendUint64(b, keys))
	}
	for data, want := range map[string]string{
		"":                         "empty",
		"GG":                       `magic "GG"`,
		"PK\x03\x04 a zip":         `not a GGUF file (magic "PK\x03\x04")`,
		"<html>":                   "not a GGUF file",
		"GGUF\x03":                 "truncated",
		"GGUF\x01\x00\x00\x00":     "version 1",
		"GGUF\x00\x00\x00\x03":     "big-endian",
		"GGUF\x03\x00\x00\x00\x01": "truncated",
		counts(1<<60, 0):           "more than a model has",
		counts(0, 1<<60):           "more than a model has",
		counts(5, 0):               "truncated",
		counts(0, 5):               "truncated",
	} {
		_, err := Parse([]byte(data))
		refused(t, err, want)
	}
}

// TestParseTruncated cuts a whole model at many places: an error each time, never a
// panic.
func TestParseTruncated(t *testing.T) {
	data := tinyFile(tensorQ8_0, 1)
	for n := 0; n < len(data)-31; n += 1 + n/64 { // the last bytes may be padding
		if _, err := Parse(data[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are accepted", n, len(data))
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, data string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.gguf"):       "no such file",
		dir:                                   "not a regular file",
		write("empty.gguf", ""):               "empty.gguf: not a GGUF file (empty)",
		write("page.gguf", "<!DOCTYPE html>"): `page.gguf: not a GGUF file (magic "<!DO")`,
		write("cut.gguf", string(Oncall()[:9000])): "cut.gguf: reading metadata",
		write("half.gguf", string(Oncall()[:1e6])): "truncated",
	} {
		_, err := Open(path)
		refused(t, err, want)
	}
	f, err := Open(write("whole.gguf", string(Oncall())))
	if err != nil {
		t.Fatal(err)
	}
	if template, ok := f.Text("tokenizer.chat_template"); !ok || !strings.Contains(template, "<|assistant|>") {
		t.Errorf("chat template %q, %v", template, ok)
	}
}

// TestParseDamaged flips bytes of a model: Parse, Load and a step must not panic.
func TestParseDamaged(t *testing.T) {
	data := tinyFile(tensorQ8_0, 2)
	rng := rand.New(rand.NewPCG(5, 6))
	head := bytes.Index(data, []byte("output_norm.weight")) + 50 // metadata and table
	accepted := 0
	for range 2000 {
		bad := bytes.Clone(data)
		for range 1 + rng.IntN(3) {
			bad[rng.IntN(head)] ^= 1 << rng.IntN(8)
		}
		f, err := Parse(bad)
		if err != nil {
			continue
		}
		_, _ = f.Vocab()
		m, err := Load(f, Options{Threads: 1})
		if err != nil {
			continue
		}
		accepted++
		m.Close()
	}
	if accepted == 0 || accepted == 2000 {
		t.Errorf("%d of 2000 damaged files are accepted", accepted)
	}
}
