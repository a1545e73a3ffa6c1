package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin"
	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/workload"
	"llmtop/probes"
)

// fitted are the loads that the model of this machine is fitted to, unseen those that it is held
// against. Of neither the model knows more than arrivals and lengths.
var (
	fitted = []cpuLoad{
		{2, 50, 30, 1}, {4, 50, 30, 2}, {8, 50, 30, 3}, {3, 150, 40, 4}, {6, 150, 40, 5},
		{2, 250, 20, 6}, {4, 250, 20, 7}, {3, 60, 90, 8}, {6, 60, 90, 9}, {5, 100, 60, 10},
	}
	unseen = []cpuLoad{{5, 80, 50, 21}, {8, 100, 30, 22}, {3, 220, 60, 23}, {7, 40, 80, 24}, {2, 240, 90, 25}}
)

const (
	fittedSpan = 8 * time.Second
	unseenSpan = 15 * time.Second
	cpuAllowed = 0.15 // median error
)

// cpu calibrates the twin on ten loads of the real engine on this machine, and holds it against five others.
func cpu(out io.Writer) (bool, error) {
	var steps []step
	var records []*probes.Request
	var later []served // of the unseen loads
	for n, l := range unseen {
		for _, f := range fitted[2*n : 2*n+2] { // in turns: what else the machine does then hits both alike
			m, err := measure(context.Background(), f.requests(fittedSpan))
			if err != nil {
				return false, err
			}
			steps, records = append(steps, m.steps...), append(records, m.requests...)
		}
		m, err := measure(context.Background(), l.requests(unseenSpan))
		if err != nil {
			return false, err
		}
		later = append(later, m)
	}
	if len(records) == 0 {
		return false, errors.New("the engine finished no request")
	}
	model, front := fit(ordinary(steps)), frontOf(records)
	model.Base += loop(steps)
	fmt.Fprintf(out, "fitted to %d steps of %d loads: %s a step, %s a prompt token, %s a decode, %s a thousand tokens attended to\n",
		len(steps), len(fitted), model.Base, model.Prefill, model.Decode, model.Context)
	fmt.Fprintf(out, "%-28s %s\n", "load", "p50 of TTFT, TPOT, E2E and mean TTFT: real ms, twin ms, error")
	var misses []float64
	for n, l := range unseen {
		simulated, err := simulated(l.requests(unseenSpan), model, front)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(out, "%-28s", fmt.Sprintf("%g/s, %d in, %d out", l.rate, l.prompt, l.output))
		for _, f := range figures {
			real, twin := f(later[n].requests), f(simulated)
			miss := twin/real - 1
			misses = append(misses, math.Abs(miss))
			fmt.Fprintf(out, "  %7.1f %7.1f %+4.0f%%", 1000*real, 1000*twin, 100*miss)
		}
		fmt.Fprintln(out)
	}
	m := median(misses)
	fmt.Fprintf(out, "median error of the five unseen loads: %.1f %% (at most %.0f %%), largest %.0f %%\n", 100*m, 100*cpuAllowed, 100*slices.Max(misses))
	return m <= cpuAllowed, nil
}

// figures are what is compared, in seconds.
var figures = []func([]*probes.Request) float64{
	func(r []*probes.Request) float64 { return median(each(r, ttft)) },
	func(r []*probes.Request) float64 { return median(each(r, tpot)) },
	func(r []*probes.Request) float64 { return median(each(r, e2e)) },
	func(r []*probes.Request) float64 { return mean(each(r, ttft)) },
}

func ttft(q *probes.Request) (float64, bool) { return q.TTFTSeconds.Get() }
func tpot(q *probes.Request) (float64, bool) { return q.TPOTSeconds() }
func e2e(q *probes.Request) (float64, bool)  { return q.E2ESeconds.Get() }

func each(list []*probes.Request, of func(*probes.Request) (float64, bool)) (out []float64) {
	for _, q := range list {
		if v, ok := of(q); ok {
			out = append(out, v)
		}
	}
	return out
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	if len(v) == 0 {
		return math.NaN()
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// loop is what the engine's loop takes between two steps that follow each other: the median of
// the pauses after a step that left something to decode.
func loop(steps []step) time.Duration {
	var pauses []float64
	for _, s := range steps {
		if s.pause > 0 && s.work.Decodes > 0 {
			pauses = append(pauses, float64(s.pause))
		}
	}
	if len(pauses) == 0 {
		return 0
	}
	return time.Duration(median(pauses))
}

// frontOf is what requests spent beside the steps, on average.
func frontOf(list []*probes.Request) *twin.Front {
	stage := func(s probes.Stage) time.Duration {
		return time.Duration(1e9 * median(each(list, func(q *probes.Request) (float64, bool) { return q.Stages[s], true })))
	}
	perToken := func(of func(*probes.Request) float64) time.Duration {
		return time.Duration(1e9 * median(each(list, func(q *probes.Request) (float64, bool) {
			return of(q) / float64(max(1, q.OutputTokens)), q.OutputTokens > 0
		})))
	}
	f := twin.DefaultFront
	f.Front = cost.Front{
		Receive: stage(probes.StageReceive), Parse: stage(probes.StageParse), Auth: stage(probes.StageAuth), Tokenize: stage(probes.StageTokenize), Assemble: stage(probes.StageAssemble),
		Detokenize: perToken(func(q *probes.Request) float64 { return q.DetokenizeBusySeconds }),
		Send:       perToken(func(q *probes.Request) float64 { return q.SendBusySeconds }),
	}
	return &f
}

// simulated serves the same requests with the twin.
func simulated(list []workload.Request, model *cost.Linear, front *twin.Front) (out []*probes.Request, err error) {
	trace := &workload.Trace{Name: "load"}
	for _, r := range list {
		trace.Rows = append(trace.Rows, workload.Row{At: r.At, Prompt: int32(r.Prompt), Output: int32(r.Output)})
	}
	sc := twin.Scenario{
		Linear: model, Front: front, Replicas: 1, Personality: "llmtop", Limits: cpuLimits, BlockSize: cpuBlockSize, Blocks: cpuBlocks, CPUs: 64,
		MaxQueue: engine.Unlimited, Workload: workload.Config{Trace: trace, Speed: 1}, Seed: 1, Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Duration: list[len(list)-1].At + time.Minute, Interval: time.Second}
	run, err := twin.New(sc)
	if err != nil {
		return nil, err
	}
	for {
		s, err := run.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for _, r := range s.Requests {
			out = append(out, r.Finished...)
		}
	}
}
