package discover

import (
	"cmp"
	"slices"
)

// merge leaves one of what is one engine, and puts those that were read first, then
// those that can be, in the order in which they promised most.
func merge(found []Found) []Found {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b Found) int {
		if c := cmp.Compare(order(a.Metrics), order(b.Metrics)); c != 0 {
			return c
		}
		if c := cmp.Compare(order(a.Missing == ""), order(b.Missing == "")); c != 0 {
			return c // what has not answered yet may never do
		}
		return cmp.Compare(order(a.ByCommand), order(b.ByCommand))
	})
	var out []Found
	for _, f := range found {
		i := slices.IndexFunc(out, func(o Found) bool { return same(&o, &f) })
		switch {
		case i < 0 && len(out) < maxEngines:
			out = append(out, f)
		case i >= 0:
			out[i].add(&f)
		}
	}
	return out
}

// same reports two findings of one engine: one address, one process, or a page that a
// proxy in front passes on, which tells the same start of its process.
func same(a, b *Found) bool {
	known := a.PID > 0 && b.PID > 0
	switch {
	case known && a.PID == b.PID:
		return true
	case a.Endpoint.None() || a.Endpoint.Key() != b.Endpoint.Key():
	case !known || a.Endpoint.String() == b.Endpoint.String(): // else one has 127.0.0.1, the other ::1
		return true
	}
	return a.start != "" && a.start == b.start && a.Dialect == b.Dialect && a.Model == b.Model && !(a.ByCommand && b.ByCommand)
}

// add takes the address of a copy in.
func (f *Found) add(copied *Found) {
	for _, name := range append([]string{copied.Endpoint.String()}, copied.Also...) {
		if name != f.Endpoint.String() && name != "" && !slices.Contains(f.Also, name) {
			f.Also = append(slices.Clip(f.Also), name)
		}
	}
}
