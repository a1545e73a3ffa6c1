package record

import (
	"strings"
	"unicode/utf8"
)

// How a text is written. New text is written once a group and then by its number in
// its column's table; ids, which are hex digits and never come again, are not put there.
const (
	textSame    = 0 // as in the reference
	textHex     = 1 // as many lower-case hex digits as the column's last such text
	textHexLong = 2 // the same, with their number
	textNew     = 3 // the first bytes of the reference's text, then others
	textEntry   = 4 // plus its number in the table, the newest being 0

	maxTableText    = 64   // longer text is not put in the table
	maxTableEntries = 4096 // nor more texts than this
	minHex          = 8    // digits from which packing pays
	minPrefix       = 8    // shared bytes from which leaving them out pays: what shares any is not put in the table
)

// textTable is the texts of a column, oldest first.
type textTable struct {
	entries []string
	index   map[string]int // places in entries; writing only
}

func (t *textTable) add(s string, writing bool) {
	if len(s) > maxTableText || len(t.entries) >= maxTableEntries {
		return
	}
	if writing {
		if t.index == nil {
			t.index = map[string]int{}
		}
		t.index[s] = len(t.entries)
	}
	t.entries = append(t.entries, s)
}

// text writes s as a value of c, whose trend is the number of its last hex digits.
func (w *bitWriter) column(t *textTable, c *column, s, ref string, dense bool) {
	if i, ok := t.index[s]; ok && (s != ref || !dense) {
		w.put(c, uint64(textEntry+len(t.entries)-1-i), dense)
		return
	}
	switch prefix := commonPrefix(s, ref); {
	case s == ref:
		w.put(c, textSame, dense)
	case isHex(s):
		code := uint64(textHex)
		if int64(len(s)) != c.trend {
			code = textHexLong
		}
		if w.put(c, code, dense); code == textHexLong {
			w.wide(uint64(len(s)) + 1)
		}
		c.trend = int64(len(s))
		for i := range len(s) {
			w.bits(uint64(strings.IndexByte(hexDigits, s[i])), 4)
		}
	default:
		if prefix < minPrefix {
			prefix = 0
			t.add(s, true)
		}
		w.put(c, textNew, dense)
		w.wide(uint64(prefix) + 1)
		w.wide(uint64(len(s)-prefix) + 1)
		w.text(s[prefix:])
	}
}

// column reads a text. What it returns is safe to show.
func (r *bitReader) column(t *textTable, c *column, ref string, dense bool) string {
	u, ok := r.get(c, dense)
	if !ok {
		r.fail()
		return ""
	}
	switch u {
	case textSame:
		return ref
	case textHexLong:
		c.trend = int64(r.count(r.left() / 4))
		fallthrough
	case textHex:
		return r.hex(int(c.trend))
	case textNew:
		prefix := r.wide() - 1
		s := printable(ref[:min(prefix, uint64(len(ref)))] + r.text(r.count(r.left()/8)))
		if prefix == 0 && r.err == nil {
			t.add(s, false)
		}
		return s
	}
	if u-textEntry >= uint64(len(t.entries)) {
		r.fail()
		return ""
	}
	return t.entries[uint64(len(t.entries))-1-(u-textEntry)]
}

func (r *bitReader) hex(n int) string {
	if n > r.left()/4 {
		r.fail()
		return ""
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = hexDigits[r.bits(4)]
	}
	return string(out)
}

const hexDigits = "0123456789abcdef"

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
