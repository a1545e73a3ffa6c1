package probes

import (
	"bytes"
	"io"
)

// Pieces that a body is gathered in, when it does not fit the room there is.
const (
	firstPiece = 32 << 10
	mostPiece  = 256 << 10
)

// readBody reads r into buf and returns how many bytes came, at most limit+1: then, and
// on an error, buf is empty. What fits buf's room is read there. A longer body is
// gathered in pieces, which are put together once, when it is known to be within the
// limit: a buffer that grows by doubling moves all it has each time, some MiB at once,
// and while it does the runtime cannot stop that goroutine, so that all others wait, the
// one that ticks among them. A little room is left for the next body to be longer.
func readBody(buf *bytes.Buffer, r io.Reader, limit int64) (n int64, err error) {
	buf.Reset()
	r = io.LimitReader(r, limit+1)
	piece := buf.AvailableBuffer()
	piece = piece[:cap(piece)]
	var pieces [][]byte
	for size := firstPiece; err == nil; size = min(2*size, mostPiece) {
		if len(piece) == 0 {
			piece = make([]byte, size)
		}
		var k int
		k, err = fill(piece, r)
		pieces, n, piece = append(pieces, piece[:k]), n+int64(k), nil
	}
	if err != io.EOF || n > limit {
		return n, noEOF(err)
	}
	buf.Grow(int(n + n/8))
	for _, p := range pieces {
		buf.Write(p) // the first may lie where it is written to
	}
	return n, nil
}

// fill reads until b is full; err tells why it is not.
func fill(b []byte, r io.Reader) (n int, err error) {
	for n < len(b) && err == nil {
		var k int
		k, err = r.Read(b[n:])
		n += k
	}
	return n, err
}

func noEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
