package main

import (
	"fmt"
	"strings"

	"llmtop/probes"
	"llmtop/probes/nvml"
)

// callReport is one driver function as it answered for one GPU.
type callReport struct {
	Symbol         string  `json:"symbol"`
	GPU            int     `json:"gpu"` // index; -1: the host
	Calls          int     `json:"calls"`
	Failed         int     `json:"failed"`
	Result         string  `json:"result"` // of the last one
	MedianSeconds  float64 `json:"median_seconds"`
	LongestSeconds float64 `json:"longest_seconds"`
	OutSeconds     float64 `json:"out_seconds,omitempty"` // how long one has been out that has not come back
}

// stuckAfter is longer than any call takes that comes back; waiting for events, a second.
const stuckAfter = 2

// stuck reports a call that does not seem to come back.
func (c *callReport) stuck() bool { return c.OutSeconds > stuckAfter }

func callsOf(calls []nvml.Call) (out []callReport) {
	for _, c := range calls {
		out = append(out, callReport{
			Symbol: probes.Printable(c.Symbol, 80), GPU: max(c.GPU, -1), Calls: c.Calls, Failed: c.Failed, Result: probes.Printable(c.Result, 300),
			MedianSeconds: c.Median.Seconds(), LongestSeconds: c.Longest.Seconds(), OutSeconds: c.Out.Seconds(),
		})
	}
	return out
}

// callsText prints the calls to the driver: those that do not come back, those that give
// nothing by their results, the others in two columns with their usual and longest time.
func (r *doctorReport) callsText(p *page) {
	if len(r.Calls) == 0 {
		return
	}
	p.section("calls to the NVIDIA driver (nvmlDeviceGet…): median, longest time")
	var good [][2]string
	var results []string
	by := map[string][]string{}
	for _, c := range foldCalls(r.Calls) {
		name := strings.TrimPrefix(strings.TrimPrefix(c.Symbol, "nvml"), "DeviceGet") + c.gpus
		switch {
		case c.stuck():
			p.prose("  ", fmt.Sprintf("%s: out for %s and not back", name, shortTime(c.OutSeconds)))
		case c.Calls == 0 && c.OutSeconds > 0: // it will tell later
		case strings.HasPrefix(c.Result, "ok"):
			good = append(good, [2]string{" " + name, shortTime(c.MedianSeconds) + ", " + shortTime(c.LongestSeconds)})
		default:
			if by[c.Result] == nil {
				results = append(results, c.Result)
			}
			by[c.Result] = append(by[c.Result], name)
		}
	}
	p.grid(good)
	for _, result := range results {
		p.prose("  ", result+":")
		p.wrapped("    ", ",", by[result]...)
	}
}

// folded is a call as several GPUs answered it alike.
type folded struct {
	callReport
	gpus string // " (GPU 0-7)", "" for the host's and those that all answer so
}

// foldCalls puts those together in which only the GPU differs.
func foldCalls(calls []callReport) (out []folded) {
	type key struct {
		symbol, result string
		stuck          bool
	}
	at, of := map[key]int{}, map[key][]int{}
	gpus := map[int]bool{}
	for _, c := range calls {
		k := key{c.Symbol, c.Result, c.stuck()}
		of[k], gpus[c.GPU] = append(of[k], c.GPU), true
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			out = append(out, folded{callReport: c})
			continue
		}
		f := &out[i]
		f.Calls, f.Failed = f.Calls+c.Calls, f.Failed+c.Failed
		f.MedianSeconds, f.LongestSeconds = max(f.MedianSeconds, c.MedianSeconds), max(f.LongestSeconds, c.LongestSeconds)
		f.OutSeconds = max(f.OutSeconds, c.OutSeconds)
	}
	delete(gpus, -1)
	for k, i := range at {
		if list := of[k]; list[0] >= 0 && len(list) < len(gpus) {
			out[i].gpus = fmt.Sprintf(" (GPU %s)", numbers(list))
		}
	}
	return out
}

// numbers writes a list of indexes: "0, 2".
func numbers(list []int) string {
	var words []string
	for _, n := range list {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, ", ")
}
