package workload

import (
	"time"

	"llmtop/engine/twin/knob"
)

// Means are what requests are like on average, before a knob is turned.
type Means struct {
	Requests int     // looked at
	Rate     float64 // requests per second over them
	Prompt   float64 // tokens
	Output   float64
	Shared   float64 // tokens of prompts that a request before may have had
}

// Measure makes some requests and looks at them. What follows a time of day is looked at only where the run begins.
func Measure(c Config, seed uint64, requests int) (Means, error) {
	m := Means{}
	c.Delay = 0
	source, err := New(c, seed, knob.NewBoard(1, 1))
	if err != nil {
		return m, err
	}
	last := time.Duration(0)
	for m.Requests < requests {
		if _, ok := source.Due(); !ok {
			break
		}
		r := source.Take()
		m.Requests++
		last = r.At
		m.Prompt += float64(r.Prompt)
		m.Output += float64(r.Output)
		m.Shared += float64(r.Prompt - r.New)
	}
	n := float64(max(1, m.Requests))
	if last > 0 {
		m.Rate = n / last.Seconds()
	}
	m.Prompt, m.Output, m.Shared = m.Prompt/n, m.Output/n, m.Shared/n
	return m, nil
}
