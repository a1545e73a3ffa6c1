package inject

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/probes/record"
)

// proof is what a recording says of a run's validity.
type proof struct {
	confirmed []drill.Confirmation
	missing   error   // what was to move and did not; nil: nothing
	others    float64 // share of the host's cores that others than the engine had before the onset
}

// mostOthers is the share above which the engine, which takes half of the cores, and its
// clients are slowed down by what else the machine does.
const mostOthers = 0.7

// prove reads in a recording what a drill asks for.
func prove(ctx context.Context, path string, wanted []drill.Confirm, onset, end time.Time) (p proof, err error) {
	asked, err := drill.NewConfirmer(wanted, onset, end)
	if err != nil {
		return p, err
	}
	host, err := drill.NewConfirmer([]drill.Confirm{{Signal: "host.other_share"}}, onset, end)
	if err != nil {
		return p, err
	}
	if err := fold(ctx, path, asked, host); err != nil {
		return p, fmt.Errorf("reading back the recording: %w", err)
	}
	p.confirmed, p.missing = asked.Result()
	if seen, _ := host.Result(); len(seen) > 0 { // not every host tells
		p.others = seen[0].Before
	}
	return p, nil
}

// fold gives all samples of a recording to each.
func fold(ctx context.Context, path string, to ...*drill.Confirmer) error {
	reader, err := record.Open(path)
	if err != nil {
		return err
	}
	defer reader.Close()
	for {
		sample, err := reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, c := range to {
			c.Observe(sample)
		}
	}
}
