//go:build !linux || !cgo

package nvml

import (
	"errors"
	"time"
)

// New returns a probe whose section only says that this build cannot read GPUs.
func New(Options) *Probe { return newProbe(unavailable{}, time.Now) }

type unavailable struct{}

func (unavailable) open() (system, error) {
	return system{}, errors.New("built without NVML support (cgo)")
}

func (unavailable) close() {}

func (unavailable) calls() []Call { return nil }
