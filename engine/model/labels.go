package model

import "context"

// SetLabels makes the goroutines that share the forward pass carry the profiling
// labels of ctx from the next Forward on, as the one that calls Forward should.
func (m *Model) SetLabels(ctx context.Context) { m.work.labels = ctx }
