package record

import (
	"math"
	"math/rand"
	"time"

	"llmtop/probes"
)

// day is a fixed synthetic day at 1 Hz, the same samples in every run: a host
// with 8 GPUs and one vLLM engine. All values are invented; their granularity and
// noise are those of the sources:
//
//   - load: requests arrive as a Poisson process whose rate follows the hours,
//     with bursts of some minutes (up to 3 times) and idle minutes at night;
//   - page (dayPage): vLLM's names and buckets, 700 series, of which some 150 move
//     in a busy second; lengths and times of requests are lognormal; sums are
//     float64 sums of differences of time.time() (TTFT, end to end: multiples of
//     2^-22 s, its resolution today) or of time.monotonic() (the others: 2^-33 s,
//     after ten days of uptime), as in a captured page;
//   - GPUs: power in mW (normal, 6 W around a level that follows the load), SM and
//     DRAM activity in steps of 1e-4 (normal, 0.02), utilisations in whole %, clocks
//     in 15 MHz steps, temperature in whole degrees following the power over
//     minutes, memory in steps of 2 MiB now and then;
//   - host and process: CPU time in 1/100 s, pressure in µs, run-queue wait in ns,
//     memory in pages of 4096 bytes, load1 renewed every 5 s;
//   - times are whole µs: reads end some 0.2–6 ms after the tick, with jitter; the
//     sample's own time is in ns;
//   - requests, when asked for: ids of 12 random hex digits, as the engine gives them, stage times in whole
//     µs from the same lognormal process, end to end their exact sum.
type day struct {
	rng      *rand.Rand
	start    time.Time
	n        int // samples made
	requests int // finished in each sample
	page     *dayPage
	burst    float64 // factor of the rate
	until    int     // when the burst or idle time ends
	gpus     []dayGPU
	host     dayHost
	seq      uint64
}

const daySamples = 86400

func newDay(requests int) *day {
	d := &day{
		rng: rand.New(rand.NewSource(20260301)), start: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		requests: requests, burst: 1,
	}
	d.page = newDayPage(d.rng)
	d.gpus = newDayGPUs(d.rng)
	return d
}

// rate is the mean of requests that arrive in second n.
func (d *day) rate() float64 {
	if d.n >= d.until {
		d.burst, d.until = 1, d.n+60+d.rng.Intn(1200)
		night := d.n%86400 < 6*3600
		switch r := d.rng.Float64(); {
		case r < 0.12:
			d.burst, d.until = 1.5+1.5*d.rng.Float64(), d.n+30+d.rng.Intn(240)
		case night && r < 0.5:
			d.burst, d.until = 0, d.n+60+d.rng.Intn(600)
		}
	}
	hour := 2 * math.Pi * (float64(d.n)/86400 - 0.625) // most at 15:00
	return 9 * (0.55 + 0.45*math.Cos(hour)) * d.burst
}

// next is the next sample.
func (d *day) next() *probes.Sample {
	d.n++
	at := d.start.Add(time.Duration(d.n)*time.Second + time.Duration(50_000+d.rng.ExpFloat64()*60_000))
	tick := at.Add(-20 * time.Millisecond).Truncate(time.Microsecond) // reads begin before the sample is assembled
	s := &probes.Sample{Seq: uint64(d.n), At: at, Mono: at.Sub(d.start) + time.Duration(d.n/50) + time.Duration(d.rng.Intn(300)), Interval: time.Second}
	d.page.second(poisson(d.rng, d.rate()))
	scraped := d.read(tick, 4200, 0.15)
	s.Scrapes = []*probes.Scrape{{
		At: scraped.at, Endpoint: "http://127.0.0.1:8000", Seconds: scraped.latency, Schema: d.page.schema,
		Values: append([]float64(nil), d.page.values...),
	}}
	reads := []dayRead{scraped}
	names := []string{"metrics"}
	if d.requests > 0 {
		r := d.read(tick, 900, 0.2)
		s.Requests = []*probes.Requests{d.finished(r.at)}
		reads, names = append(reads, r), append(names, "requests")
	}
	h, p, g := d.read(tick, 280, 0.2), d.read(tick, 650, 0.2), d.read(tick, 3100, 0.1)
	d.host.second(d.rng, d.page.load())
	s.Host, s.Process = d.host.section(h.at), d.host.process(p.at, d.start)
	s.GPU = d.gpu(g.at.Add(-2500 * time.Microsecond))
	s.Self = &probes.Self{At: s.At, PID: 77, CPUSecondsTotal: probes.Some(float64(d.host.self) / 100), RSSBytes: probes.Some(float64(d.host.selfPages) * 4096)}
	for i, r := range append(reads, h, p, g) {
		s.Probes = append(s.Probes, probes.ProbeStatus{
			Name: append(names, "host", "process", "gpu")[i], At: r.at.Add(time.Duration(3+d.rng.Intn(30)) * time.Microsecond),
			EverySeconds: 1, LatencySeconds: probes.Some(r.latency),
		})
	}
	return s
}

// dayRead is when a probe's read ended and how long it took, in whole µs.
type dayRead struct {
	at      time.Time
	latency float64
}

// read takes about typical µs, lognormal with a spread of sigma, begun at tick with the scheduler's jitter.
func (d *day) read(tick time.Time, typical, sigma float64) dayRead {
	us := math.Round(typical * math.Exp(sigma*d.rng.NormFloat64()))
	if d.rng.Intn(200) == 0 {
		us *= 4
	}
	begun := tick.Add(time.Duration(60+20*d.rng.ExpFloat64()) * time.Microsecond)
	return dayRead{begun.Add(time.Duration(us) * time.Microsecond), us / 1e6}
}

// finished are the requests of a second.
func (d *day) finished(at time.Time) *probes.Requests {
	r := &probes.Requests{At: at, Endpoint: "http://127.0.0.1:8000", InFlight: d.page.running}
	for range d.requests {
		d.seq++
		r.Finished = append(r.Finished, d.request(at))
	}
	return r
}

func (d *day) request(at time.Time) *probes.Request {
	rng, q := d.rng, d.page.draw()
	us := func(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }
	around := func(typical, sigma float64) float64 { return us(typical * math.Exp(sigma*rng.NormFloat64())) }
	out := &probes.Request{
		Seq: d.seq, ID: hex16(rng)[:12], Stream: rng.Intn(10) > 0, State: "finished", Finish: "stop",
		PromptBytes: int(q.prompt * (3.6 + 0.4*rng.NormFloat64())), PromptTokens: int(q.prompt),
		CachedTokens: int(q.cached), OutputTokens: int(q.output),
	}
	if rng.Intn(5) == 0 {
		out.Finish = "length"
	}
	out.Stages = probes.StageSeconds{
		around(180e-6, 0.5), around(70e-6, 0.3), around(4e-6, 0.3), around(q.prompt*1.1e-6, 0.2), around(30e-6, 0.3),
		us(q.queue), around(6e-3, 0.6), us(q.prefill), us(q.decode), around(120e-6, 0.4), around(90e-6, 0.5),
	}
	var total, first float64
	for i, s := range out.Stages {
		if total += s; i <= int(probes.StagePrefill) {
			first += s
		}
	}
	out.E2ESeconds, out.TTFTSeconds = probes.Some(us(total)), probes.Some(us(first+around(60e-6, 0.4)))
	out.MaxITLSeconds = probes.Some(us(q.step * (1.3 + rng.ExpFloat64())))
	out.DetokenizeBusySeconds, out.SendBusySeconds = around(q.output*9e-6, 0.15), around(q.output*14e-6, 0.25)
	if rng.Intn(40) == 0 {
		out.Preemptions, out.PreemptedSeconds = 1, around(0.4, 0.6)
	}
	ended := time.Duration(rng.Intn(1e6)) * time.Microsecond
	out.Arrived = at.Add(-ended - time.Duration(math.Round(us(total)*1e6))*time.Microsecond)
	return out
}

func hex16(rng *rand.Rand) string {
	b := make([]byte, 16)
	for i := range b {
		b[i] = hexDigits[rng.Intn(16)]
	}
	return string(b)
}

// poisson draws the number of events of a mean.
func poisson(rng *rand.Rand, mean float64) int {
	if mean > 60 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	n, p, limit := 0, rng.Float64(), math.Exp(-mean)
	for ; p > limit; n++ {
		p *= rng.Float64()
	}
	return n
}
