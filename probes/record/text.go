package record

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// Text is written once a group: a token n ≥ 1 is entry n−1 of the group's table,
// token 0 brings new text. New text may begin with the first bytes of the
// reference, and a tail of lower-case hex digits takes half a byte each.
const (
	maxTableText    = 64   // longer text is not put in the table
	maxTableEntries = 4096 // nor more texts than this
	minHex          = 8    // digits from which packing pays
)

type textTable struct {
	entries []string
	index   map[string]int // writing only
}

// reset leaves the empty text as the only entry.
func (t *textTable) reset() {
	t.entries = append(t.entries[:0], "")
	if t.index != nil {
		clear(t.index)
		t.index[""] = 0
	}
}

func (t *textTable) add(s string) {
	if len(s) > maxTableText || len(t.entries) >= maxTableEntries {
		return
	}
	if t.index != nil {
		t.index[s] = len(t.entries)
	}
	t.entries = append(t.entries, s)
}

// append appends the token of s; ref is the reference's text.
func (t *textTable) append(b []byte, s, ref string) []byte {
	if i, ok := t.index[s]; ok {
		return binary.AppendUvarint(b, uint64(i)+1)
	}
	prefix := commonPrefix(s, ref)
	tail := s[prefix:]
	hex := isHex(tail)
	if !hex && prefix < minHex {
		prefix, tail = 0, s
		hex = isHex(tail)
	}
	b = binary.AppendUvarint(append(b, 0), uint64(prefix))
	if hex {
		b = binary.AppendUvarint(b, uint64(len(tail))<<1|1)
		return appendHex(b, tail)
	}
	b = binary.AppendUvarint(b, uint64(len(tail))<<1)
	if prefix == 0 {
		t.add(s)
	}
	return append(b, tail...)
}

// text reads what append wrote. What it returns is safe to show.
func (c *cursor) text(t *textTable, ref string) string {
	if token := c.uvarint(); token > 0 {
		if token > uint64(len(t.entries)) {
			c.fail()
			return ""
		}
		return t.entries[token-1]
	}
	prefix, n := c.uvarint(), c.uvarint()
	head := ref[:min(prefix, uint64(len(ref)))]
	if n>>1 > 2*uint64(len(c.b)) {
		c.fail()
		return ""
	}
	size := int(n >> 1)
	if n&1 != 0 {
		return printable(head + unpackHex(c.take((size+1)/2), size))
	}
	s := printable(head + string(c.take(size)))
	if prefix == 0 && c.err == nil {
		t.add(s)
	}
	return s
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func isHex(s string) bool {
	if len(s) < minHex {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

const hexDigits = "0123456789abcdef"

func appendHex(b []byte, s string) []byte {
	for i := 0; i < len(s); i += 2 {
		v := strings.IndexByte(hexDigits, s[i]) << 4
		if i+1 < len(s) {
			v |= strings.IndexByte(hexDigits, s[i+1])
		}
		b = append(b, byte(v))
	}
	return b
}

func unpackHex(p []byte, digits int) string {
	out := make([]byte, 0, digits+1)
	for _, v := range p {
		out = append(out, hexDigits[v>>4], hexDigits[v&15])
	}
	return string(out[:min(digits, len(out))])
}

// printable returns s with each control byte as a space and each byte that is
// not UTF-8 as U+FFFD, so that nothing from a file can drive a terminal.
func printable(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= 0x20 && s[i] < 0x7f
	}
	if clean {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < 0x20 || (r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r // an invalid byte arrives here as utf8.RuneError
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}
