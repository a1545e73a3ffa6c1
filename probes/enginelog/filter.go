package enginelog

import "bytes"

// filter finds which of a set of literals stand in a line, fast where none does: it looks at
// blocks of two bytes and leaps over what no literal has there (Wu and Manber, 1994).
type filter struct {
	literals [][]byte
	width    int             // bytes of each literal that are compared first
	leap     [1 << 16]uint8  // by block: how far to go on, 0 where a literal may end
	first    [1 << 16]uint16 // by block: index in ends plus one, 0 for none
	ends     [][]int         // literals whose first width bytes end in the block
}

// newFilter makes a filter. Each literal has two bytes or more.
func newFilter(literals []string) *filter {
	f := &filter{width: 255}
	for _, l := range literals {
		f.literals = append(f.literals, []byte(l))
		f.width = min(f.width, len(l))
	}
	for i := range f.leap {
		f.leap[i] = uint8(f.width - 1)
	}
	for i, l := range f.literals {
		for j := 1; j < f.width; j++ {
			b := block(l, j)
			f.leap[b] = min(f.leap[b], uint8(f.width-1-j))
		}
		b := block(l, f.width-1)
		if f.first[b] == 0 {
			f.ends = append(f.ends, nil)
			f.first[b] = uint16(len(f.ends))
		}
		f.ends[f.first[b]-1] = append(f.ends[f.first[b]-1], i)
	}
	return f
}

// block is the two bytes that end at i.
func block(b []byte, i int) int { return int(b[i-1])<<8 | int(b[i]) }

// next returns the first literal that stands in line at from or later and where the search
// goes on from; -1 when there is none.
func (f *filter) next(line []byte, from int) (literal, goOn int) {
	for i := from + f.width - 1; i < len(line); {
		b := int(line[i-1])<<8 | int(line[i])
		if leap := f.leap[b]; leap > 0 {
			i += int(leap)
			continue
		}
		start := i - f.width + 1
		if e := f.first[b]; e > 0 {
			for _, l := range f.ends[e-1] {
				if bytes.HasPrefix(line[start:], f.literals[l]) {
					return l, start + 1
				}
			}
		}
		i++
	}
	return -1, len(line)
}
