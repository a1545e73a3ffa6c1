package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"llmtop/probes"

	"golang.org/x/sys/unix"
)

// volume is one file of a recording: most have one, a store has many.
type volume struct {
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
	major     int    // of the format; 0: the record that says it is damaged or cut
	manifest  Manifest
	catalog   catalog
	groups    []*openGroup // decoded lately, newest last
	unpacker  *unpacker
	lostFirst bool // the first record, which names the format, is damaged
}

// openVolume opens a file for reading.
func openVolume(path string, flags int, u *unpacker) (*volume, error) {
	info, err := os.Stat(path) // before opening: a pipe would block
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("opening recording %s: not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, fmt.Errorf("opening recording: %w", err)
	}
	v, err := newVolume(fileSource{f}, true, u)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening recording %s: %w", path, err)
	}
	v.path, v.close = path, f.Close
	return v, nil
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

// newVolume reads src, by its stored index if that is allowed and there.
func newVolume(src source, stored bool, u *unpacker) (*volume, error) {
	r := &volume{records: records{src: src, budget: searchBudget}, unpacker: u, previous: noFrame}
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
func (r *volume) checkHeader(size int64) error {
	first, err := r.record(0, size)
	if err == nil && first.kind == typeHeader {
		return r.checkVersion(first.payload)
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
func (r *volume) beginsAlike(size int64) bool {
	got, err := r.view(0, int(size))
	for major := byte(1); major <= formatMajor && err == nil; major++ {
		if want := appendFileHeader(nil, major); size <= int64(len(want)) && string(got) == string(want[:size]) {
			return true
		}
	}
	return false
}

// checkVersion takes the major version of the format, which must be known.
func (r *volume) checkVersion(payload []byte) error {
	rest := len(payload) - len(fileMagic)
	if rest < 2 || string(payload[:len(fileMagic)]) != fileMagic {
		return ErrNotRecording
	}
	if r.major = int(payload[len(fileMagic)]); r.major > formatMajor {
		return fmt.Errorf("format %d is newer than this llmtop reads (%d); use a newer llmtop", r.major, formatMajor)
	}
	return nil
}

// loadIndex takes the index of a cleanly closed file.
func (r *volume) loadIndex(size int64) bool {
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
func (r *volume) scan(size int64) error {
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
		if r.note(found); len(r.index.groups) > maxGroups {
			return errLong
		}
	}
}

// note adds a record to the index.
func (r *volume) note(found rec) {
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

// refresh indexes what was appended since.
func (r *volume) refresh() error {
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

// at returns the file's sample i, which the index has; ErrDamaged when it is lost.
func (r *volume) at(i int) (*probes.Sample, error) {
	g, k := r.groupWith(i)
	if k >= len(g.samples) {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, g.lost)
	}
	return g.samples[k], nil
}

// indexOf is the number of the last sample at or before t, 0 when there is none; see lastPassed.
func (r *volume) indexOf(t time.Time) int {
	number := r.index.groupAt(t.UnixNano())
	if number < 0 {
		return 0
	}
	entry := r.index.groups[number]
	g, _ := r.groupWith(entry.first + entry.frames - 1)
	next := r.index.end + 1
	if number+1 < len(r.index.groups) {
		next = r.index.groups[number+1].at
	}
	k := lastPassed(len(g.samples), func(k int) int64 { return g.samples[k].At.UnixNano() }, next, t.UnixNano())
	return entry.first + max(k, 0)
}

// mostSetBacks is how many times that the clock was set back are looked at for the span.
const mostSetBacks = 16

// span is from the earliest to the latest time of the samples, of which there are some, Unix
// ns. The index has no time of the last sample before the clock was set back: it is read.
func (r *volume) span() (start, end int64) {
	start, end = r.index.span()
	for i, read := 1, 0; i < len(r.index.groups) && read < mostSetBacks; i++ {
		before := r.index.groups[i-1]
		if r.index.groups[i].at >= before.at {
			continue
		}
		read++
		if g, _ := r.groupWith(before.first + before.frames - 1); len(g.samples) > 0 {
			end = max(end, g.samples[len(g.samples)-1].At.UnixNano())
		}
	}
	return start, end
}

func (r *volume) shut() error {
	if r.close == nil {
		return nil
	}
	return r.close()
}
