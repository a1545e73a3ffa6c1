package twin

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/workload"
	"llmtop/probes"
)

// Recorded makes a trace of the requests that a recording tells of: those that arrived in a
// stretch of time and finished, each once.
//
// What prompts share is not recorded, only how many of a prompt's tokens were in the cache. So
// requests of which as many were, are taken for ones with the same prefix of that length; those
// whose number few others have, for turns of conversations, which begin alike as far as the cache
// reached. A replay with a cache of that size finds about as many tokens again.
type Recorded struct {
	From, To time.Time // both included

	Outside int // arrived before or after
	Unknown int // whose prompt or answer has no known length: refused, failed, cut off
	Missed  int // that finished and nobody could read
	Partial bool

	rows []recordedRow
	seen map[uint64]bool
	read map[string]time.Time // by endpoint, the newest section
}

type recordedRow struct {
	workload.Row
	cached int
}

// fewAlike is how many requests have to have as many cached tokens before that is more than chance: the
// first of them finds nothing when they are replayed.
const fewAlike = 8

// common is the prefix of what few other requests share their number of cached tokens with.
const common = workload.MaxTokens + 1

// Add takes the sections of a sample. A section that is there again counts once.
func (t *Recorded) Add(sections []*probes.Requests) error {
	if t.seen == nil {
		t.seen, t.read = map[uint64]bool{}, map[string]time.Time{}
	}
	for _, s := range sections {
		if last, ok := t.read[s.Endpoint]; ok && !s.At.After(last) {
			continue
		}
		t.read[s.Endpoint] = s.At
		t.Missed += s.Missed
		t.Partial = t.Partial || s.FinishedOnly
		for _, r := range s.Finished {
			if err := t.add(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Recorded) add(r *probes.Request) error {
	key := identity(r)
	if t.seen[key] {
		return nil
	}
	switch {
	case r.Arrived.Before(t.From) || r.Arrived.After(t.To):
		t.Outside++
		return nil
	case r.PromptTokens < 1 || r.OutputTokens < 1 || r.PromptTokens > workload.MaxTokens || r.OutputTokens > workload.MaxTokens:
		t.Unknown++
		return nil
	case len(t.rows) == workload.MaxRows:
		return fmt.Errorf("more than %d requests: take a part of the recording", workload.MaxRows)
	}
	t.seen[key] = true
	class, err := engine.ParseClass(r.Class)
	if err != nil {
		class = engine.Normal // of an engine without classes
	}
	t.rows = append(t.rows, recordedRow{cached: max(0, min(r.CachedTokens, r.PromptTokens)),
		Row: workload.Row{At: r.Arrived.Sub(t.From), Prompt: int32(r.PromptTokens), Output: int32(r.OutputTokens), Class: class, Unary: !r.Stream}})
	return nil
}

// identity is the same of a request wherever it is told of.
func identity(r *probes.Request) uint64 {
	h := fnv.New64a()
	h.Write([]byte(r.ID))
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], uint64(r.Arrived.UnixNano()))
	binary.LittleEndian.PutUint64(b[8:], uint64(r.PromptTokens))
	if r.ID == "" {
		binary.LittleEndian.PutUint64(b[16:], r.Seq)
	}
	h.Write(b[:])
	return h.Sum64()
}

// Rows are the requests in order of arrival.
func (t *Recorded) Rows() []workload.Row {
	alike := map[int]int{}
	for i := range t.rows {
		alike[t.rows[i].cached]++
	}
	rows := make([]workload.Row, len(t.rows))
	for i := range t.rows {
		r := t.rows[i].Row
		if cached := t.rows[i].cached; cached > 0 {
			r.PrefixTokens, r.Prefix = int32(cached), uint64(cached)
			if alike[cached] < fewAlike {
				r.Prefix = common
			}
		}
		rows[i] = r
	}
	slices.SortStableFunc(rows, func(a, b workload.Row) int { return cmp.Compare(a.At, b.At) })
	return rows
}
