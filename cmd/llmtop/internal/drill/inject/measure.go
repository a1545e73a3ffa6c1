package inject

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/engine/load"
)

// mostRequests bounds what is read of a load's measurements.
const mostRequests = 1 << 20

// readRequests is what a load wrote of its requests. A last line that was cut off by the
// load's end is no error.
func readRequests(file string) (out []load.Request, err error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // it ended before it sent any
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan() && n <= mostRequests; n++ {
		var r load.Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			if !lines.Scan() {
				break
			}
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		out = append(out, r)
	}
	return out, lines.Err()
}

// window is a stretch of a run.
type window struct{ from, to time.Time }

// measure is a symptom (see drill.Symptoms) in a window, from what the clients saw: of the
// requests that ended in it, and of those that were still out at its end when they had
// waited longer than what the others come to.
func measure(symptom string, requests []load.Request, w window) (float64, error) {
	name, stat, _ := strings.Cut(symptom, ".")
	if symptom == failed {
		return failures(requests, w), nil
	}
	if name == "client" {
		name, stat = stat, "mean"
	}
	value, ok := readings[name]
	if !ok {
		return 0, fmt.Errorf("symptom %q is not one that clients measure", symptom)
	}
	combine, ok := statistics[stat]
	if !ok {
		return 0, fmt.Errorf("symptom %q: %q is no statistic", symptom, stat)
	}
	var ended, out []float64
	for _, r := range requests {
		at := r.Due.Add(seconds(r.Age))
		switch v, known := value(r, w.to); {
		case r.Due.After(w.to) || at.Before(w.from):
		case r.End == "completed" && !at.After(w.to):
			if known {
				ended = append(ended, v)
			}
		case at.After(w.to) || r.End == "aborted" || r.End == "timed_out":
			out = append(out, v)
		}
	}
	so := 0.0
	if len(ended) > 0 {
		so = combine(ended)
	}
	all := append(ended, slices.DeleteFunc(out, func(v float64) bool { return v <= so })...)
	if len(all) < fewest {
		return 0, fmt.Errorf("only %d requests to measure %s by", len(all), symptom)
	}
	return combine(all), nil
}

// fewest is the number of requests below which nothing is measured.
const fewest = 10

// readings are what is measured of a request, in seconds, and whether it has one. Of a
// request still out at `to` it is how long that is in the making.
var readings = map[string]func(r load.Request, to time.Time) (float64, bool){
	"ttft": func(r load.Request, to time.Time) (float64, bool) {
		if r.TTFT > 0 {
			return min(r.TTFT, age(r, to)), true
		}
		return age(r, to), r.End != "completed"
	},
	"e2e":  func(r load.Request, to time.Time) (float64, bool) { return age(r, to), true },
	"tpot": func(r load.Request, to time.Time) (float64, bool) { return r.TPOT, r.TPOT > 0 },
	"itl":  func(r load.Request, to time.Time) (float64, bool) { return r.Gap, r.Gap > 0 },
}

func age(r load.Request, to time.Time) float64 { return min(r.Age, to.Sub(r.Due).Seconds()) }

var statistics = map[string]func([]float64) float64{
	"p50": func(v []float64) float64 { return quantile(v, 0.5) },
	"p95": func(v []float64) float64 { return quantile(v, 0.95) },
	"mean": func(v []float64) float64 {
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		return sum / float64(len(v))
	},
}

// quantile is by nearest rank.
func quantile(v []float64, q float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[min(len(v)-1, int(q*float64(len(v))))]
}

// failed is the symptom of requests that were refused or failed.
const failed = "failed"

// failures is that symptom, of the requests that ended. One that its load gave up is not one
// of them.
func failures(requests []load.Request, w window) float64 {
	bad, all := uint64(0), uint64(0)
	for _, r := range requests {
		at := r.Due.Add(seconds(r.Age))
		if at.Before(w.from) || at.After(w.to) || r.End == "aborted" {
			continue
		}
		all++
		if r.End != "completed" {
			bad++
		}
	}
	return drill.FailedRatio(bad, all)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
