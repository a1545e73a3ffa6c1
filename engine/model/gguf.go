// Package model runs a Llama-family language model on the CPU in plain Go. In: a
// GGUF file (weights, configuration, vocabulary) and, a step at a time, chunks of
// many sequences with the KV cache blocks they own. Out: the logits of the next
// token. It leaves scheduling, sampling and text to its callers.
package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Limits of what a file may ask for. Real files stay far below; a hostile one gets
// an error before anything is allocated.
const (
	maxFileBytes = 16 << 30
	maxKeys      = 1 << 16
	maxTensors   = 1 << 16
	maxKeyBytes  = 1 << 16
	maxName      = 256
	maxDims      = 4
	maxNesting   = 4
	maxAlignment = 1 << 20
)

// File is a parsed GGUF file: metadata and tensors by name. Tensor data is not
// copied: it lies in the bytes given to Parse, which must not change, or in the
// mapped file.
type File struct {
	name    string
	meta    map[string]value
	tensors map[string]tensor
	size    int64
	mapped  *mapping // nil after Parse
	closed  bool
}

// Open maps a GGUF file into memory and parses it. Errors name the file in one line.
//
// Metadata, norms and biases are copied. Matrices stay in the mapped file and are read by
// every step, so the file must stay as it is until the File and all models loaded from
// it are closed. If it is cut short meanwhile, the next Load or Forward that needs a
// missing part answers an error and the process lives on; if it is written over in
// place, the weights change silently. To replace a model in use, write a new file and rename
// it over the old one: the old bytes then stay readable. Where the system maps no
// files, all of it is read instead.
func Open(path string) (f *File, err error) {
	size, err := checkFile(path)
	if err != nil {
		return nil, err
	}
	m, err := newMapping(path, size)
	if err != nil {
		return nil, err
	}
	if f, err = parseMapped(m); err != nil {
		_ = m.release()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.name, f.mapped = filepath.Base(path), m
	return f, nil
}

// parseMapped copies the metadata, which is to survive the mapping.
func parseMapped(m *mapping) (f *File, err error) {
	defer guard(&err)()
	if f, err = Parse(m.data); err != nil {
		return nil, err
	}
	for key, v := range f.meta {
		v.raw = bytes.Clone(v.raw)
		f.meta[key] = v
	}
	return f, nil
}

// Close gives the mapped bytes back once no model uses them. Metadata can still be
// read, Load is refused.
func (f *File) Close() error {
	if f.closed {
		return nil
	}
	f.closed, f.tensors = true, nil
	return f.mapped.release()
}

// checkFile looks at a file before it is mapped: it must be regular, have the right
// magic and a size within the limit, which is the answer.
func checkFile(path string) (int64, error) {
	info, err := os.Stat(path) // before opening: a pipe would block
	if err != nil {
		return 0, fmt.Errorf("reading model: %w", err)
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s: not a GGUF file (not a regular file)", path)
	}
	size := info.Size()
	if size > min(maxFileBytes, math.MaxInt) {
		return 0, fmt.Errorf("%s: %d bytes are more than the limit of %d", path, size, int64(maxFileBytes))
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("reading model: %w", err)
	}
	defer file.Close()
	head := make([]byte, min(size, 8))
	if _, err := io.ReadFull(file, head); err != nil {
		return 0, fmt.Errorf("reading %s: %w", path, err)
	}
	if err := checkMagic(head); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return size, nil
}

// checkMagic looks at the first 8 bytes: magic and version. Version 2 has the same
// layout as 3.
func checkMagic(head []byte) error {
	if len(head) == 0 {
		return errors.New("not a GGUF file (empty)")
	}
	if magic := head[:min(4, len(head))]; string(magic) != "GGUF" {
		return fmt.Errorf("not a GGUF file (magic %q)", magic)
	}
	if len(head) < 8 {
		return errTruncated
	}
	version := binary.LittleEndian.Uint32(head[4:])
	if version&0xFFFF == 0 {
		return errors.New("big-endian GGUF files are not supported")
	}
	if version != 2 && version != 3 {
		return fmt.Errorf("GGUF version %d is not supported (2 and 3 are)", version)
	}
	return nil
}

// Parse reads a GGUF file held in memory. It checks every count, length, offset and
// shape against the bytes that are there; memory use is a small multiple of len(data).
func Parse(data []byte) (*File, error) {
	if err := checkMagic(data[:min(8, len(data))]); err != nil {
		return nil, err
	}
	r := &reader{data: data, pos: 8}
	nTensors, nKeys := r.u64(), r.u64()
	if r.err != nil {
		return nil, r.err
	}
	if nTensors > maxTensors || nKeys > maxKeys {
		return nil, fmt.Errorf("%d tensors and %d metadata keys are more than a model has", nTensors, nKeys)
	}
	f := &File{name: "model", size: int64(len(data))}
	var err error
	if f.meta, err = readMeta(r, int(nKeys)); err != nil {
		return nil, fmt.Errorf("reading metadata: %w", err)
	}
	align, err := f.alignment()
	if err != nil {
		return nil, err
	}
	if f.tensors, err = readTensors(r, int(nTensors), align); err != nil {
		return nil, fmt.Errorf("reading tensors: %w", err)
	}
	return f, nil
}

func (f *File) alignment() (int, error) {
	n, err := f.uint("general.alignment", 32)
	if err != nil {
		return 0, err
	}
	if n < 8 || n > maxAlignment || n&(n-1) != 0 {
		return 0, fmt.Errorf("general.alignment of %d is not a power of two from 8 to %d", n, maxAlignment)
	}
	return n, nil
}

func readMeta(r *reader, n int) (map[string]value, error) {
	meta := map[string]value{}
	for i := range n {
		key := r.str(maxKeyBytes)
		v := r.value()
		if r.err != nil {
			return nil, fmt.Errorf("key %d of %d (%s): %w", i+1, n, printable(key), r.err)
		}
		if _, twice := meta[key]; twice {
			return nil, fmt.Errorf("key %s appears twice", printable(key))
		}
		meta[key] = v
	}
	return meta, nil
}

// printable makes outside text fit for an error message.
func printable(s string) string {
	if len(s) > 64 {
		s = s[:64] + "…"
	}
	return strings.ToValidUTF8(fmt.Sprintf("%q", s), "?")
}
