package workload

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"llmtop/engine/twin/knob"
)

// Arrivals says when requests come: what the gaps between them are like, and how the rate
// goes up and down. The zero value is a Poisson process of a steady rate.
type Arrivals struct {
	Even bool    // all gaps are alike
	CV   float64 // gamma-distributed gaps, their standard deviation over their mean; 0: exponential

	Swing float64 // the rate follows the time of day by this part of its mean
	Peak  float64 // at this hour, UTC, it is highest; negative: the seed says
	Burst Burst
}

// Burst says that the rate goes up now and then. The mean over long is what it was.
type Burst struct {
	Factor float64       // how many times as many requests come in a burst as between them; 0: no bursts
	Every  time.Duration // from one burst to the next, mean
	For    time.Duration // how long one is, mean
}

var arrivalNames = []string{"poisson", "constant", "gamma", "bursty", "diurnal"}

// ParseArrivals reads "poisson", "constant", "gamma:3", "bursty:4,5m,30s", "diurnal:0.6,15", or
// one of the first three and one of the others: "gamma:2+diurnal:0.6".
func ParseArrivals(text string) (Arrivals, error) {
	var a Arrivals
	gaps, rates := 0, 0
	for _, part := range strings.Split(text, "+") {
		name, list, _ := strings.Cut(part, ":")
		var err error
		switch name {
		case "poisson", "constant", "gamma":
			gaps++
			err = a.gaps(name, list)
		case "diurnal":
			rates++
			err = a.diurnal(list)
		case "bursty":
			rates++
			err = a.bursty(list)
		default:
			err = knob.Unknown("arrival process", name, arrivalNames)
		}
		if err != nil {
			return a, err
		}
	}
	if gaps > 1 || rates > 1 {
		return a, fmt.Errorf("%q contradicts itself: one of poisson, constant, gamma and one of diurnal, bursty", text)
	}
	return a, nil
}

func (a *Arrivals) gaps(name, list string) (err error) {
	if name != "gamma" {
		a.Even = name == "constant"
		if list != "" {
			return fmt.Errorf("%s has no numbers, not %q", name, list)
		}
		return nil
	}
	a.CV, err = numberIn("gamma", list, 0.05, 10)
	return err
}

func (a *Arrivals) diurnal(list string) (err error) {
	swing, peak, given := strings.Cut(list, ",")
	a.Peak = -1
	if a.Swing, err = numberIn("diurnal", swing, 0.01, 0.99); err == nil && given {
		a.Peak, err = numberIn("the peak hour of diurnal", peak, 0, 24)
	}
	return err
}

func (a *Arrivals) bursty(list string) (err error) {
	parts := strings.Split(list, ",")
	if len(parts) != 3 {
		return fmt.Errorf("bursty:%s: it has a factor, how often and how long, as in bursty:4,5m,30s", list)
	}
	if a.Burst.Factor, err = numberIn("bursty", parts[0], 1, 1000); err != nil {
		return err
	}
	for i, d := range []*time.Duration{&a.Burst.Every, &a.Burst.For} {
		if *d, err = time.ParseDuration(parts[1+i]); err != nil || *d < time.Second || *d > 1000*time.Hour {
			return fmt.Errorf("bursty:%s: %q is no time from 1s to 1000h", list, parts[1+i])
		}
	}
	if a.Burst.For >= a.Burst.Every {
		return fmt.Errorf("bursty:%s: bursts of %s every %s leave nothing between them", list, a.Burst.For, a.Burst.Every)
	}
	return nil
}

// numberIn reads a number within bounds.
func numberIn(what, text string, low, high float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= low && v <= high) {
		return 0, fmt.Errorf("%s takes %g to %g, not %q", what, low, high, text)
	}
	return v, nil
}

// pace is how the rate goes.
func (a *Arrivals) pace(seed uint64, start time.Time) pace {
	switch {
	case a.Swing > 0:
		peak := a.Peak
		if peak < 0 { // early in the afternoon
			peak = 13 + 4*float64(scramble(seed)>>11)/(1<<53)
		}
		return newDiurnal(a.Swing, peak, start)
	case a.Burst.Factor > 1:
		return newBursts(a.Burst.Factor, a.Burst.Every.Seconds(), a.Burst.For.Seconds(), seed)
	}
	return steady{}
}

// gap draws one of mean 1.
func (a *Arrivals) gap(r *rand.Rand) float64 {
	switch {
	case a.Even:
		return 1
	case a.CV > 0:
		return gamma(r, a.CV)
	}
	return r.ExpFloat64()
}
