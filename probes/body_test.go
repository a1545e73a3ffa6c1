package probes

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadBody(t *testing.T) {
	const limit = 1 << 20
	var buf bytes.Buffer
	for _, size := range []int{0, 1, firstPiece - 1, firstPiece, firstPiece + 1, 5, 3*firstPiece + 7, 900_000, 900_001, limit, 10} {
		body := strings.Repeat("0123456789", size/10+1)[:size]
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(body), "in halves": iotest.HalfReader(strings.NewReader(body)), "with the end": iotest.DataErrReader(strings.NewReader(body)),
		} {
			if n, err := readBody(&buf, r, limit); n != int64(size) || err != nil || buf.String() != body {
				t.Errorf("%d bytes %s: got %d, %v, right: %v", size, name, n, err, buf.String() == body)
			}
		}
	}
	if n, err := readBody(&buf, strings.NewReader(strings.Repeat("x", limit+5)), limit); n != limit+1 || err != nil || buf.Len() != 0 {
		t.Errorf("beyond the limit: got %d, %v, %d kept", n, err, buf.Len())
	}
	cut := io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if n, err := readBody(&buf, cut, limit); n != 3 || !errors.Is(err, io.ErrUnexpectedEOF) || buf.Len() != 0 {
		t.Errorf("cut: got %d, %v, %d kept", n, err, buf.Len())
	}
}

// Bodies of about one size are read into the room that is there.
func TestReadBodyReusesItsRoom(t *testing.T) {
	var buf bytes.Buffer
	body := bytes.Repeat([]byte("x"), 100_000)
	r := bytes.NewReader(body)
	read := func() {
		r.Reset(body)
		if n, err := readBody(&buf, r, 1<<20); n != 100_000 || err != nil {
			t.Fatal(n, err)
		}
	}
	read()
	room := buf.Cap()
	if allocs := testing.AllocsPerRun(100, read); allocs > 2 || buf.Cap() != room { // the limit and the list of one piece
		t.Errorf("%v allocations, room %d then %d", allocs, room, buf.Cap())
	}
}
