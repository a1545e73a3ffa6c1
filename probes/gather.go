package probes

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
