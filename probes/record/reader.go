package record

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"llmtop/probes"
)

// Errors of Open and At.
var (
	ErrEmpty        = errors.New("the file is empty")
	ErrNotRecording = errors.New("not a llmtop recording")
	ErrDamaged      = errors.New("the sample is damaged")
)

// Reader gives back the samples of a recording, in order (Next) or by number
// (At). Samples it returns are never changed; sections that were not renewed are
// the same pointer in successive samples. It is not safe for concurrent use.
type Reader struct {
	records
	path  string
	close func() error

	index     index
	end       int64  // everything before is in the index
	previous  prefix // last frame in the index
	clean     bool   // the last record is an end record
	tail      int64  // bytes after end that are no whole record
	damaged   int    // records and frames found lost
	unknown   int    // records of a kind this reader does not know
	manifest  Manifest
	catalog   catalog
	groups    []*openGroup // decoded lately, newest last
	position  int
	wait      func(context.Context) error // nil: Next ends at the end
	unpacker  *unpacker
	lostFirst bool // the first record, which names the format, is damaged
}

// Open opens a recording for reading, whole, cut anywhere, damaged, or still growing. Errors:
// ErrEmpty, ErrNotRecording, one that names a newer format, or what the system says.
func Open(path string) (*Reader, error) {
	info, err := os.Stat(path) // before opening: a pipe would block
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("opening recording %s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening recording: %w", err)
	}
	r, err := newReader(fileSource{f}, true)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening recording %s: %w", path, err)
	}
	r.path, r.close = path, f.Close
	return r, nil
}

// fileSource is a file that may grow.
type fileSource struct{ *os.File }

func (f fileSource) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// newReader reads src, by its stored index if that is allowed and there.
func newReader(src source, stored bool) (*Reader, error) {
	r := &Reader{records: records{src: src, budget: searchBudget}, unpacker: newUnpacker(), previous: noFrame}
	r.catalog.reader = r
	size, err := src.Size()
	if err != nil {
		return nil, err
	}
	if size == 0 {
		return nil, ErrEmpty
	}
	if err := r.checkHeader(size); err != nil {
		return nil, err
	}
	if !stored || !r.loadIndex(size) {
		if err := r.scan(size); err != nil {
			return nil, err
		}
	}
	r.loadManifest()
	return r, nil
}

// noFrame is followed by no frame but a key frame.
var noFrame = prefix{k: maxGroupSize}

// headSearch is how far into a file whose first record is damaged another record may begin.
const headSearch = 1 << 20

// checkHeader reads the record that names the format and its version.
func (r *Reader) checkHeader(size int64) error {
	first, err := r.record(0, size)
	if err == nil && first.kind == typeHeader {
		return checkVersion(first.payload)
	}
	if errors.Is(err, errTorn) && size < headerSize+int64(len(fileMagic))+4 && r.beginsAlike(size) {
		return nil // cut within the first record: a recording without samples
	}
	if _, err := r.find(0, min(size, headSearch)); err != nil {
		return ErrNotRecording
	}
	r.lostFirst = true
	return nil
}

// beginsAlike reports whether all there is begins like a recording.
func (r *Reader) beginsAlike(size int64) bool {
	got, err := r.view(0, int(size))
	for major := byte(1); major <= formatMajor && err == nil; major++ {
		if want := appendFileHeader(nil, major); size <= int64(len(want)) && string(got) == string(want[:size]) {
			return true
		}
	}
	return false
}

func checkVersion(payload []byte) error {
	rest := len(payload) - len(fileMagic)
	if rest < 2 || string(payload[:len(fileMagic)]) != fileMagic {
		return ErrNotRecording
	}
	if major := payload[len(fileMagic)]; major > formatMajor {
		return fmt.Errorf("format %d is newer than this llmtop reads (%d); use a newer llmtop", major, formatMajor)
	}
	return nil
}

// loadIndex takes the index of a cleanly closed file.
func (r *Reader) loadIndex(size int64) bool {
	const endSize = headerSize + 8
	if size < endSize {
		return false
	}
	last, err := r.record(size-endSize, size)
	if err != nil || last.kind != typeEnd || last.next() != size {
		return false
	}
	at := binary.LittleEndian.Uint64(last.payload)
	if at > uint64(size-endSize) {
		return false
	}
	stored, err := r.record(int64(at), size-endSize)
	if err != nil || stored.kind != typeIndex || !known(stored.flags) {
		return false
	}
	b, err := r.unpacker.unpack(stored.payload, stored.flags)
	if err != nil {
		return false
	}
	x, err := parseIndex(b, int64(at))
	if err != nil {
		return false
	}
	r.index, r.end, r.clean = *x, size, true
	return true
}

// known reports whether every flag that changes a payload's reading is known.
func known(flags uint8) bool { return flags&mustKnowMask&^flagZstd == 0 }

// scan indexes what lies between the end of what is indexed and size.
func (r *Reader) scan(size int64) error {
	for {
		found, err := r.find(r.end, size)
		if err == io.EOF {
			r.tail = size - r.end
			return nil
		}
		if err != nil {
			return err
		}
		if found.skipped {
			r.damaged++
		}
		r.end, r.clean = found.next(), false
		r.note(found)
	}
}

// note adds a record to the index.
func (r *Reader) note(found rec) {
	switch {
	case !known(found.flags) || found.kind > typeFrame:
		r.unknown++
	case found.kind.isFrame():
		c := cursor{b: found.payload}
		p, err := c.prefix(r.previous)
		if err != nil {
			r.damaged++
			return
		}
		r.previous = p
		r.index.frame(p, found.offset)
	case found.kind == typeEnd:
		r.clean = true
	default:
		r.index.other(found.kind, found.offset)
	}
}

// Next returns the next sample, io.EOF after the last (see Follow). Samples that
// are damaged are passed over and counted.
func (r *Reader) Next(ctx context.Context) (*probes.Sample, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for r.position < r.Len() {
			r.position++
			s, err := r.At(r.position - 1)
			if !errors.Is(err, ErrDamaged) {
				return s, err
			}
		}
		if r.wait == nil {
			return nil, io.EOF
		}
		before := r.Len()
		if err := r.refresh(); err != nil {
			return nil, err
		}
		if r.Len() > before {
			continue
		}
		if r.clean && r.tail == 0 {
			return nil, io.EOF
		}
		if err := r.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// Follow makes Next wait for more at the end of a recording that is not closed
// yet, looking every poll. With poll 0, the default, Next returns io.EOF there.
func (r *Reader) Follow(poll time.Duration) {
	if r.wait = nil; poll <= 0 {
		return
	}
	r.wait = func(ctx context.Context) error {
		t := time.NewTimer(poll)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return nil
		}
	}
}

// refresh indexes what was appended since.
func (r *Reader) refresh() error {
	size, err := r.src.Size()
	if err != nil {
		return fmt.Errorf("reading recording %s: %w", r.path, err)
	}
	if size <= r.end {
		return nil
	}
	r.buf = r.buf[:0] // what was torn when it was read may be whole now
	r.budget = searchBudget
	return r.scan(size)
}

// Len is the number of samples known so far, damaged ones that the index of a closed file lists among them.
func (r *Reader) Len() int { return r.index.samples }

// Seek makes sample i, held to 0 … Len, the one that Next returns.
func (r *Reader) Seek(i int) { r.position = max(0, min(i, r.Len())) }

// Position is the number of the sample that Next looks at next, Len after the last.
func (r *Reader) Position() int { return r.position }

// At returns sample i; ErrDamaged when it is lost. It reads at most one group.
func (r *Reader) At(i int) (*probes.Sample, error) {
	if i < 0 || i >= r.Len() {
		return nil, fmt.Errorf("sample %d of %d: out of range", i, r.Len())
	}
	g, k := r.groupWith(i)
	if k >= len(g.samples) {
		return nil, fmt.Errorf("sample %d: %w: %v", i, ErrDamaged, g.lost)
	}
	return g.samples[k], nil
}

// Index is the number of the last sample at or before t, 0 when t is before the first.
func (r *Reader) Index(t time.Time) int {
	if r.Len() == 0 || !fitsNano(t) {
		if t.Unix() > 0 {
			return max(0, r.Len()-1)
		}
		return 0
	}
	number := r.index.groupAt(t.UnixNano())
	if number < 0 {
		return 0
	}
	entry := r.index.groups[number]
	g, _ := r.groupWith(entry.first + entry.frames - 1)
	for k := len(g.samples) - 1; k > 0; k-- {
		if !g.samples[k].At.After(t) {
			return entry.first + k
		}
	}
	return entry.first
}

// Close closes the file.
func (r *Reader) Close() error {
	r.unpacker.z.Close()
	if r.close == nil {
		return nil
	}
	return r.close()
}
