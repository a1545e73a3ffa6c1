package export

import (
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"llmtop/probes/record"
)

// CSV writes a row a sample: its time (RFC 3339) and the signals, whose names are the first
// row. What cannot be seen is an empty field. Samples that are missing are no rows.
func CSV(ctx context.Context, w io.Writer, r *record.Reader, o Options) error {
	out := csv.NewWriter(w)
	fields := []string{"time"}
	for _, s := range o.Signals {
		fields = append(fields, s.Name)
	}
	if err := out.Write(fields); err != nil {
		return err
	}
	for row, err := range o.rows(ctx, r, true) {
		if err != nil {
			return err
		}
		if row.tick == nil {
			continue
		}
		fields = append(fields[:0], row.Sample.At.Format(time.RFC3339Nano))
		for _, s := range o.Signals {
			fields = append(fields, "")
			if v, ok := row.tick.Signals.Get(s.Name).Get(); ok {
				fields[len(fields)-1] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		if err := out.Write(fields); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
