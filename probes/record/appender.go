package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"llmtop/probes"
)

// appender builds records and appends them; one goroutine owns it. What one item
// needs is written by one call. A write that fails is undone by cutting the file
// back to its last whole record, and the next sample begins a new group.
type appender struct {
	f        file
	size     int64
	dirty    bool // written since the last sync
	packer   *packer
	encoder  *encoder
	registry *registry
	index    index
	group    int // frames a group
	early    int // frames of this group while groups are short
	layout   repeated
	manifest repeated
	facts    Manifest // what the manifest says by now
	layoutID int

	since time.Time // when an earlier writer of the file, or of the one before, ended; zero: told
	known []Mark    // marks in the file that may wait beside it all the same

	last    *probes.Sample // the frame before; nil: none, or the next must stand alone
	prefix  prefix
	buffer  []byte
	payload []byte
	body    []byte
	gap     *Gap // samples that could not be written
}

const layoutID = 1

// newAppender begins a recording.
func newAppender(f file, m Manifest) (*appender, error) {
	a, err := bareAppender(f)
	if err != nil {
		return nil, err
	}
	return a, a.head(m, true)
}

func bareAppender(f file) (*appender, error) {
	a := &appender{f: f, packer: newPacker(), group: groupSize, layoutID: layoutID}
	a.registry = newRegistry(a.packer)
	own, err := own()
	if err != nil {
		return nil, err
	}
	a.encoder = newEncoder(own.root, a.registry)
	return a, nil
}

// head writes what all frames need; a new file begins with its header.
func (a *appender) head(m Manifest, begins bool) error {
	own, err := own()
	if err != nil {
		return err
	}
	manifest, err := marshal(m)
	if err != nil {
		return err
	}
	a.facts = m
	a.manifest = a.repeated(typeManifest, manifest)
	a.layout = a.repeated(typeLayout, layoutJSON(own, a.layoutID))
	var b []byte
	if begins {
		b = appendFileHeader(nil, formatMajor)
	}
	b = a.manifest.appendTo(b, a.prefix.group)
	b = a.layout.appendTo(b, a.prefix.group)
	return a.commit(b)
}

func (a *appender) repeated(kind recordType, b []byte) repeated {
	payload, flags := a.packer.pack(b)
	return repeated{kind: kind, flags: flags, payload: payload}
}

// commit writes whole records, and notes them in the index.
func (a *appender) commit(b []byte) error {
	n, err := a.f.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		a.undo(n)
		return err
	}
	a.note(b)
	a.size += int64(len(b))
	a.dirty = true
	return nil
}

// undo cuts off the n bytes of a write that failed. If that fails as well they
// stay, and readers find the next record behind them.
func (a *appender) undo(n int) {
	if n > 0 && a.f.Truncate(a.size) != nil {
		a.size += int64(n)
	}
}

// note adds the records in b to the index; frames are noted by sample.
func (a *appender) note(b []byte) {
	offset := a.size
	for len(b) >= headerSize {
		h, err := parseHeader(b)
		if err != nil {
			return
		}
		if h.kind.isFrame() {
			a.index.frame(a.prefix, offset)
		} else {
			a.index.other(h.kind, offset)
		}
		offset += int64(headerSize + h.length)
		b = b[headerSize+h.length:]
	}
}

// write appends an item. A sample that cannot be written becomes part of the gap
// before the next that can.
func (a *appender) write(it item) error {
	b := a.buffer[:0]
	if it.sample != nil && !a.since.IsZero() {
		a.gap = a.gap.join(pause(a.since, it.sample))
		a.since = time.Time{}
	}
	a.gap = a.gap.join(it.gap)
	if a.gap != nil {
		a.last = nil
		b = appendJSON(b, a.packer, typeGap, a.gap)
	}
	var err error
	if it.facts != nil {
		b, err = a.know(b, it.facts)
	}
	if it.mark != nil {
		b = appendJSON(b, a.packer, typeMark, it.mark)
	}
	for i := range it.marks {
		b = appendJSON(b, a.packer, typeMark, &it.marks[i])
	}
	if it.sample != nil && err == nil {
		b, err = a.frame(b, it.sample)
	}
	for _, f := range it.findings {
		if f != nil {
			b = appendJSON(b, a.packer, typeFinding, cleanFinding(f))
		}
	}
	a.buffer = b
	if err == nil && len(b) > 0 {
		err = a.commit(b)
	}
	if err != nil {
		a.failed(it, err)
		return err
	}
	a.gap = nil
	if it.sample != nil {
		a.last = it.sample
	}
	return nil
}

// failed makes the next sample begin a group that needs nothing of what was lost.
func (a *appender) failed(it item, err error) {
	a.last = nil
	a.registry.lost()
	a.layout.copies, a.manifest.copies = min(a.layout.copies, 1), min(a.manifest.copies, 1)
	if it.sample != nil {
		a.gap = a.gap.plus(it.sample.At, reason(err))
	}
}

// reason is an error without the path: where somebody records is nobody else's business.
func reason(err error) string {
	var in *fs.PathError
	if errors.As(err, &in) {
		err = in.Err
	}
	return err.Error()
}

// frame appends the records of a sample. The appender's prefix becomes the frame's.
func (a *appender) frame(b []byte, s *probes.Sample) ([]byte, error) {
	p := prefixOf(s, a.layoutID)
	key := a.last == nil || a.prefix.k+1 >= min(a.group, a.early) || p.interval != a.prefix.interval ||
		p.at < a.prefix.at // within a group the clock is never set back: times are found by the groups'
	if p.group = a.prefix.group; key {
		a.early = max(2*min(a.early, a.group), firstGroup)
		p.group++
		if a.last != nil {
			p.before = a.prefix.k + 1
		}
	} else {
		p.k = a.prefix.k + 1
	}
	previous := a.prefix
	a.prefix = p
	a.registry.begin(p.group, key)
	var err error
	if a.body, err = a.encoder.body(a.body[:0], s, a.last, key); err == nil {
		err = a.registry.err
	}
	if err != nil {
		return b, fmt.Errorf("encoding sample %d: %w", s.Seq, err)
	}
	if key && a.layout.due(p.group) {
		b = a.manifest.appendTo(b, p.group)
		b = a.layout.appendTo(b, p.group)
	}
	b = append(b, a.registry.pending...)
	a.payload = append(p.append(a.payload[:0], previous), a.body...)
	if len(a.payload) > maxRecord || len(a.body) > maxRecord {
		return b, fmt.Errorf("sample %d takes %d bytes: more than %d", s.Seq, len(a.body), maxRecord)
	}
	return appendRecord(b, typeFrame, 0, a.payload), nil
}

// appendJSON appends a record that is a JSON object. What cannot be written as
// JSON, or is too long, is left out.
func appendJSON(b []byte, p *packer, kind recordType, v any) []byte {
	j, err := marshal(v)
	if err != nil || len(j) > maxRecord {
		return b
	}
	payload, flags := p.pack(j)
	return appendRecord(b, kind, flags, payload)
}

// cleanFinding is f with a detail that is valid JSON.
func cleanFinding(f *Finding) Finding {
	c := *f
	c.At = f.At.UTC()
	return c
}

// end writes the index and the end record.
func (a *appender) end() error {
	payload, flags := a.packer.pack(a.index.append(nil))
	b := appendRecord(nil, typeIndex, flags, payload)
	return a.commit(appendRecord(b, typeEnd, 0, endPayload(a.size)))
}
