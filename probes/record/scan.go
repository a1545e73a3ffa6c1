package record

import (
	"bytes"
	"io"
)

// source is where a recording is read from.
type source interface {
	io.ReaderAt
	Size() (int64, error)
}

// windowSize is how much is read at once; a larger record is read whole.
const windowSize = 64 << 10

// searchBudget bounds the bytes whose CRC is taken while looking for the next
// record after damage, so that a file made of false beginnings ends.
const searchBudget = 512 << 20

// records reads records by their offset.
type records struct {
	src    source
	buf    []byte
	at     int64 // offset of buf[0]
	budget int   // what is left of searchBudget
}

// rec is a whole record whose CRC holds. Its payload is valid until the next read.
type rec struct {
	header
	payload []byte
	offset  int64
	skipped bool // damage lies between it and where it was looked for
}

func (r rec) next() int64 { return r.offset + headerSize + int64(r.length) }

// view returns n bytes at offset, which must be there.
func (r *records) view(offset int64, n int) ([]byte, error) {
	if d := offset - r.at; d >= 0 && d+int64(n) <= int64(len(r.buf)) {
		return r.buf[d : d+int64(n)], nil
	}
	size := max(n, windowSize)
	if cap(r.buf) < size || cap(r.buf) > 4*size {
		r.buf = make([]byte, size)
	}
	got, err := r.src.ReadAt(r.buf[:size], offset)
	r.buf, r.at = r.buf[:got], offset
	if got < n {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return r.buf[:n], nil
}

// record reads the record at offset; nothing at or beyond end counts.
func (r *records) record(offset, end int64) (rec, error) {
	if end-offset < headerSize {
		return rec{}, errTorn
	}
	head, err := r.view(offset, headerSize)
	if err != nil {
		return rec{}, err
	}
	h, err := parseHeader(head)
	if err != nil {
		return rec{}, err
	}
	whole := headerSize + h.length
	if int64(whole) > end-offset {
		return rec{}, errTorn
	}
	b, err := r.view(offset, whole)
	if err != nil {
		return rec{}, err
	}
	if !h.checks(b, b[headerSize:]) {
		return rec{}, errMalformed
	}
	return rec{header: h, payload: b[headerSize:], offset: offset}, nil
}

// find returns the record at offset, or the first one after damage. io.EOF: there
// is none (yet) before end.
func (r *records) find(offset, end int64) (rec, error) {
	found, err := r.record(offset, end)
	if err == nil || end-offset < headerSize {
		if err != nil {
			err = io.EOF
		}
		return found, err
	}
	for offset++; end-offset >= headerSize; {
		b, err := r.view(offset, int(min(end-offset, windowSize)))
		if err != nil {
			return rec{}, err
		}
		i := bytes.IndexByte(b, sync1)
		if i < 0 {
			offset += int64(len(b))
			continue
		}
		offset += int64(i)
		if found, ok := r.candidate(offset, end); ok {
			found.skipped = true
			return found, nil
		}
		if r.budget <= 0 {
			break
		}
		offset++
	}
	return rec{}, io.EOF
}

// candidate tries a possible beginning of a record.
func (r *records) candidate(offset, end int64) (rec, bool) {
	head, err := r.view(offset, int(min(headerSize, end-offset)))
	if err != nil {
		return rec{}, false
	}
	h, err := parseHeader(head)
	if err != nil || h.kind == 0 || h.kind > 63 {
		return rec{}, false
	}
	if int64(headerSize+h.length) > end-offset {
		return rec{}, false
	}
	r.budget -= h.length
	found, err := r.record(offset, end)
	return found, err == nil
}
