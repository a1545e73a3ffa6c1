package record

// v1Texts are the texts of a group: a token n ≥ 1 is entry n−1, token 0 brings new text.
type v1Texts struct{ entries []string }

// text reads a text that differs from ref. What it returns is safe to show.
func (c *cursor) text(t *v1Texts, ref string) string {
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
	if prefix == 0 && c.err == nil && len(s) <= maxTableText && len(t.entries) < maxTableEntries {
		t.entries = append(t.entries, s)
	}
	return s
}

func unpackHex(p []byte, digits int) string {
	out := make([]byte, 0, digits+1)
	for _, v := range p {
		out = append(out, hexDigits[v>>4], hexDigits[v&15])
	}
	return string(out[:min(digits, len(out))])
}
