package drill

import (
	"context"
	"fmt"
	"slices"

	"llmtop/engine/twin"
	"llmtop/probes"
	"llmtop/probes/record"
)

// recordedBy is the version that recordings of drills are of: the same of all, so that the
// same instance makes the same bytes.
const recordedBy = "simulated"

// writers write recordings of one run, each with its sources left out. Nothing in them tells
// that this is a drill, or which.
type writers struct {
	copies []*record.Copy
	veils  []*twin.Veil
}

func newWriters(s *staged, to []Recording) (*writers, error) {
	w := &writers{}
	for _, r := range to {
		c, err := record.NewCopy(r.Path, record.Manifest{Version: recordedBy, Created: s.Start, Interval: s.Interval, Simulated: true, Host: "twin", Facts: s.facts()})
		if err != nil {
			w.discard()
			return nil, err
		}
		without := slices.Concat(s.Without, r.Missing)
		slices.Sort(without)
		w.copies = append(w.copies, c)
		w.veils = append(w.veils, twin.NewVeil(slices.Compact(without)...))
	}
	return w, nil
}

// facts are what a recording says of the deployment: no more than anybody would see of it.
func (s *staged) facts() map[string]string {
	facts := map[string]string{"simulated": s.Title(), "engine": s.Personality, "model": s.Model.Name}
	if s.GPU.NVML != "" {
		facts["gpus"] = fmt.Sprintf("%d × %s", s.GPUs, s.GPU.NVML)
	}
	return facts
}

func (w *writers) add(ctx context.Context, s *probes.Sample) error {
	for n, c := range w.copies {
		if err := c.Add(ctx, record.Entry{Sample: w.veils[n].Sample(s)}); err != nil {
			return err
		}
	}
	return nil
}

// close finishes all files, or leaves none.
func (w *writers) close(ctx context.Context) error {
	for _, c := range w.copies {
		if _, err := c.Close(ctx); err != nil {
			w.discard()
			return err
		}
	}
	return nil
}

func (w *writers) discard() {
	for _, c := range w.copies {
		c.Discard()
	}
}
