package host

import (
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// cpuSet is a set of cores, one bit each.
type cpuSet []uint64

// parseCPUs reads a list as the kernel writes it: "0-31,64-95".
func parseCPUs(list string) (set cpuSet, ok bool) {
	list = strings.TrimSpace(list)
	if list == "" {
		return nil, false
	}
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err := strconv.ParseUint(from, 10, 32)
		b, err2 := strconv.ParseUint(to, 10, 32)
		if err != nil || err2 != nil || a > b || b >= maxCores {
			return nil, false
		}
		for n := a; n <= b; n++ {
			for uint64(len(set)) <= n/64 {
				set = append(set, 0)
			}
			set[n/64] |= 1 << (n % 64)
		}
	}
	return set, true
}

// with is both sets together.
func (s cpuSet) with(t cpuSet) cpuSet {
	if len(s) < len(t) {
		s, t = t, s
	}
	out := append(cpuSet(nil), s...)
	for i, word := range t {
		out[i] |= word
	}
	return out
}

// shared counts the cores that are in both.
func (s cpuSet) shared(t cpuSet) (n int) {
	for i := range min(len(s), len(t)) {
		n += bits.OnesCount64(s[i] & t[i])
	}
	return n
}

// all are its cores.
func (s cpuSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// count counts its cores.
func (s cpuSet) count() int { return s.shared(s) }
