package probes

import "time"

// Emptied is what it takes to fill a window again: its settings, and how many samples.
type Emptied struct {
	keep    time.Duration
	floor   time.Time
	Samples int // the newest ones, which Refill needs
}

// Emptied describes the window without its points, for a reader that can give the
// samples again.
func (w *Window) Emptied() Emptied { return Emptied{w.keep, w.floor, len(w.points)} }

// Refill is the window again, from the newest samples that were in it, oldest first:
// as many as Samples says, or as are left.
func (e Emptied) Refill(decode Decoder, samples []*Sample) *Window {
	w := &Window{keep: e.keep, decode: decode, floor: e.floor}
	for _, s := range samples {
		w.points = append(w.points, decode(s))
	}
	return w
}
