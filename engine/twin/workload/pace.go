package workload

import (
	"math"
	"math/rand/v2"
	"time"
)

// pace is how the rate of a stream goes up and down by itself, as a factor whose mean is 1.
// Times are seconds of the run. Calls come with times that never go back.
type pace interface {
	// between is the factor integrated from one time to another.
	between(from, to float64) float64
	// after is the time at which that integral has come to x.
	after(from, x float64) float64
}

// steady is a rate that stays as it is.
type steady struct{}

func (steady) between(from, to float64) float64 { return to - from }
func (steady) after(from, x float64) float64    { return from + x }

const day = 24 * 60 * 60.0

// diurnal is a rate that goes with the time of day: 1 + swing × cos, highest at the peak.
type diurnal struct {
	swing float64 // 0 to 0.99
	peak  float64 // seconds of the run at which it is highest
}

// newDiurnal is for a run that starts at a time of day; peak is in hours, UTC.
func newDiurnal(swing, peak float64, start time.Time) *diurnal {
	u := start.UTC()
	midnight := time.Date(u.Year(), u.Month(), u.Day(), 0, 0, 0, 0, time.UTC)
	return &diurnal{swing: swing, peak: peak*3600 - u.Sub(midnight).Seconds()}
}

// integral is that from the peak on.
func (d *diurnal) integral(t float64) float64 {
	const w = 2 * math.Pi / day
	return t - d.peak + d.swing/w*math.Sin(w*(t-d.peak))
}

func (d *diurnal) between(from, to float64) float64 { return d.integral(to) - d.integral(from) }

// after solves by Newton's method within the bounds that the swing sets.
func (d *diurnal) after(from, x float64) float64 {
	const w = 2 * math.Pi / day
	low, high := from+x/(1+d.swing), from+x/(1-d.swing)
	start := d.integral(from)
	t := from + x/(1+d.swing*math.Cos(w*(from-d.peak)))
	for range 60 {
		miss := d.integral(t) - start - x
		if math.Abs(miss) <= 1e-9*max(1, x) {
			break
		}
		if miss > 0 {
			high = t
		} else {
			low = t
		}
		if t -= miss / (1 + d.swing*math.Cos(w*(t-d.peak))); t <= low || t >= high {
			t = (low + high) / 2
		}
	}
	return t
}

// bursts is a rate that is so many times as high in bursts as between them. Their lengths and
// the time between them are exponential; each follows from the seed and its number.
type bursts struct {
	seed         uint64
	quiet, burst float64    // mean lengths in seconds
	level        [2]float64 // the factor between bursts and in them

	piece      uint64 // the one that is reached; odd ones are bursts
	start, end float64
}

// maxPieces bounds how far ahead is looked; beyond, the mean does.
const maxPieces = 10_000

func newBursts(factor, every, length float64, seed uint64) *bursts {
	share := length / every
	low := 1 / (1 + share*(factor-1))
	b := &bursts{seed: seed, quiet: every - length, burst: length, level: [2]float64{low, low * factor}}
	b.end = b.length(0)
	return b
}

// length is that of a piece.
func (b *bursts) length(piece uint64) float64 {
	mean := b.quiet
	if piece%2 == 1 {
		mean = b.burst
	}
	u := float64(scramble(b.seed+piece)>>11) / (1 << 53)
	return max(1e-3, -mean*math.Log(1-u))
}

func (b *bursts) next() {
	b.piece++
	b.start = b.end
	b.end += b.length(b.piece)
}

func (b *bursts) between(from, to float64) float64 {
	for b.end <= from {
		b.next()
	}
	sum := 0.0
	for ahead := *b; from < to; ahead.next() {
		until := min(to, ahead.end)
		sum += (until - from) * ahead.level[ahead.piece%2]
		from = until
	}
	return sum
}

func (b *bursts) after(from, x float64) float64 {
	for b.end <= from {
		b.next()
	}
	ahead := *b
	for range maxPieces {
		level := ahead.level[ahead.piece%2]
		if room := (ahead.end - from) * level; x <= room {
			return from + x/level
		} else {
			x -= room
		}
		from = ahead.end
		ahead.next()
	}
	return from + x
}

// gamma draws from the gamma distribution of mean 1 whose standard deviation is cv times
// that (Marsaglia and Tsang's method; below a shape of 1 with a power of a uniform).
func gamma(r *rand.Rand, cv float64) float64 {
	shape := 1 / (cv * cv)
	boost, a := 1.0, shape
	if a < 1 {
		boost, a = math.Pow(r.Float64(), 1/a), a+1
	}
	d := a - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		n := r.NormFloat64()
		v := 1 + c*n
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < 0.5*n*n+d-d*v+d*math.Log(v) {
			return d * v * boost / shape
		}
	}
}

// scramble makes of a number another one that looks nothing like it (the finisher of SplitMix64).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
