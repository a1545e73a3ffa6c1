package probes

import "slices"

// maxGathered bounds the finished requests of one section.
const maxGathered = 16384

// after joins what finished in two reads that no sample came between: nothing
// is lost, and what does not fit is counted as missed, oldest first.
func (r *Requests) after(older Section) Section {
	o, ok := older.(*Requests)
	if !ok {
		return r
	}
	joined := *r
	joined.Missed += o.Missed
	joined.Finished = append(append(make([]*Request, 0, len(o.Finished)+len(r.Finished)), o.Finished...), r.Finished...)
	if over := len(joined.Finished) - maxGathered; over > 0 {
		joined.Missed += over
		joined.Finished = joined.Finished[over:]
	}
	return &joined
}

// RequestsSet is what one probe tells of the requests of several engines, one section
// an endpoint.
type RequestsSet []*Requests

func (l RequestsSet) AddTo(to *Sample) {
	for _, r := range l {
		r.AddTo(to)
	}
}

// after joins the sections of each endpoint. One that only the older read tells of stays.
func (l RequestsSet) after(older Section) Section {
	o, ok := older.(RequestsSet)
	if !ok {
		return l
	}
	joined := slices.Clone(l)
	for _, r := range o {
		i := slices.IndexFunc(joined, func(n *Requests) bool { return n.Endpoint == r.Endpoint })
		if i < 0 {
			joined = append(joined, r)
		} else {
			joined[i] = joined[i].after(r).(*Requests)
		}
	}
	return joined
}
