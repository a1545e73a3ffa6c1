package main

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/knob"
)

func allPoints(t *testing.T) []point {
	t.Helper()
	all, err := readPoints(bytes.NewReader(pointsTSV))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPoints reads the table: each point says where it is from, ten and more were held out, and no source has points
// of two uses.
func TestPoints(t *testing.T) {
	use, held := map[string]string{}, 0
	for _, p := range allPoints(t) {
		if p.source == "" || p.engine == "" || !strings.HasPrefix(p.url, "https://") {
			t.Errorf("%s %s: source %q, engine %q, url %q", p.name(), p.load(), p.source, p.engine, p.url)
		}
		if other, seen := use[p.url]; seen && other != p.use {
			t.Errorf("%s %s is marked %q, but others of %s %q", p.name(), p.load(), p.use, p.url, other)
		}
		use[p.url] = p.use
		if math.IsNaN(p.tpot) {
			t.Errorf("%s %s: there is no TPOT", p.name(), p.load())
		}
		if p.held() && !math.IsNaN(p.ttft) {
			held++
		}
	}
	if held < enough {
		t.Errorf("%d points were held out", held)
	}
}

func TestBadPoints(t *testing.T) {
	header, rows, _ := strings.Cut(string(pointsTSV), "\n")
	row, _, _ := strings.Cut(rows, "\n")
	for _, c := range []struct{ old, new, want string }{
		{"set\t", "sett\t", "use is one of set, held, unseen"},
		{"a100-80\t", "a101\t", `there is no GPU "a101"`},
		{"\t27.8\t", "\tfast\t", "ttft_ms"},
		{"\t27.8\t", "\tNaN\t", "ttft_ms"},
		{"\t27.8\t", "\tInf\t", "ttft_ms"},
		{"\t280\t", "\t0\t", "prompt"},
		{"\t280\t", "\t-\t", "prompt"},
		{"\t0.9\t", "\t-\t", "vary"},
		{"\t1\t-\t-\t-\tnew", "\t1\t5\t-\t-\tnew", "either a concurrency or a rate"},
		{"\tnew\t", "\told\t", "prompts is one of new, again"},
		{"\tmedian\t", "\tworst\t", "statistic is one of mean, median"},
		{"\t27.8\t", "\t", "fields"},
	} {
		bad := strings.Replace(row, c.old, c.new, 1)
		_, err := readPoints(strings.NewReader(header + "\n" + bad + "\n"))
		if bad == row || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "points.tsv:2") {
			t.Errorf("%q for %q: got %v, want %q of line 2", c.new, c.old, err, c.want)
		}
	}
}

// somePoint is a small one that the tests change.
func somePoint(t *testing.T) point {
	t.Helper()
	for _, p := range allPoints(t) {
		if p.deployment.GPU.Name == "h100" && p.clients == 1 && p.vary == 0 && p.prompt == 1000 {
			return p
		}
	}
	t.Fatal("there is no such point")
	return point{}
}

// TestEvaluate follows one client whose requests are alike: its TTFT is what the front half and the step of the
// prompt take, its TPOT lies between the steps of the first and the last token.
func TestEvaluate(t *testing.T) {
	p := somePoint(t)
	p.requests = 4
	ttft, tpot, err := evaluate(&p)
	if err != nil {
		t.Fatal(err)
	}
	model, err := cost.NewRoofline(p.deployment, cost.Defaults, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := cost.Conditions{Board: knob.NewBoard(1, 1), GPUs: []cost.GPU{{Clock: 1, Compute: 1, Bandwidth: 1, Share: 1, Link: 1}}, CPU: 1}
	n := float64(p.prompt)
	prompt := model.Step(&cost.Work{Prefills: 1, PrefillTokens: p.prompt, PrefillPairs: n * (n + 1) / 2, Sampled: 1}, &c).Step
	front := cost.DefaultFront.FirstToken(int(n*bytesPerTok), p.prompt)
	if want := (prompt + front).Seconds(); off(ttft, want) > 0.02 {
		t.Errorf("TTFT %v, want %v", ttft, want)
	}
	decode := func(context int) float64 {
		return model.Step(&cost.Work{Decodes: 1, DecodeTokens: 1, Context: context, Sampled: 1}, &c).Step.Seconds()
	}
	if low, high := 0.99*decode(p.prompt), 1.01*decode(p.prompt+p.output); tpot < low || tpot > high {
		t.Errorf("TPOT %v, want %v to %v", tpot, low, high)
	}
}

// TestEvaluateClosedLoop: two clients whose prompts come at the same time wait for each other, a second time they
// find them in the cache.
func TestEvaluateClosedLoop(t *testing.T) {
	p := somePoint(t)
	p.output, p.requests = 20, 20
	alone, _, err := evaluate(&p)
	if err != nil {
		t.Fatal(err)
	}
	p.clients = 4
	together, _, err := evaluate(&p)
	if err != nil {
		t.Fatal(err)
	}
	p.again = true
	cached, _, err := evaluate(&p)
	if err != nil {
		t.Fatal(err)
	}
	if together < 1.3*alone || cached > 0.8*together {
		t.Errorf("TTFT of one client %v, of four %v, of four whose prompts were sent before %v", alone, together, cached)
	}
}

// TestImpossiblePoint: what does not fit says so.
func TestImpossiblePoint(t *testing.T) {
	p := somePoint(t)
	p.prompt = 10_000_000
	if _, _, err := evaluate(&p); err == nil || !strings.Contains(err.Error(), "does not fit in the KV cache") {
		t.Errorf("got %v", err)
	}
}

// TestLoad: arrivals at a rate keep to it, and what is sent again is the same.
func TestLoad(t *testing.T) {
	l := newLoad(&point{prompt: 200, output: 100, vary: 0.9, rate: 5, requests: 4000, again: true})
	type lengths struct {
		prompt, output int
		id             uint64
	}
	var sent []lengths
	for at, more := l.Due(); more; at, more = l.Due() {
		if len(sent) == 0 && at != 0 || len(sent) == l.requests && at != l.began {
			t.Errorf("request %d comes at %s, those that count since %s", len(sent), at, l.began)
		}
		q := l.Take()
		sent = append(sent, lengths{q.Prompt, q.Output, q.Prefix[0].ID})
	}
	n := l.requests
	if rate := float64(n) / (l.began - settled).Seconds(); len(sent) != 2*n || math.Abs(rate-5) > 0.4 {
		t.Errorf("%d requests, the first %d at %v/s", len(sent), n, rate)
	}
	sum := 0
	for i, s := range sent[:n] {
		if s != sent[n+i] {
			t.Fatalf("request %d: %v, later %v", i, s, sent[n+i])
		}
		sum += s.prompt
	}
	if mean := float64(sum) / float64(n); math.Abs(mean-200) > 10 {
		t.Errorf("prompts of %v tokens", mean)
	}
}

func TestStatistic(t *testing.T) {
	values := []float64{9, 1, 2, 4}
	if mean, median := (&point{}).of(values), (&point{median: true}).of(values); mean != 4 || median != 3 {
		t.Errorf("mean %v, median %v", mean, median)
	}
}

// TestVerdict: the gate wants so many points that were held out and are met in both.
func TestVerdict(t *testing.T) {
	tallies := map[string]*tally{"set": {}, "held": {}, "unseen": {}}
	for i := range enough + 5 {
		tallies["set"].add(0, 0)
		tallies["held"].add(math.NaN(), 0.1) // no TTFT
		tallies["unseen"].add(0.3, 0.1)
		if i < enough-1 {
			tallies["held"].add(0.25, 0.25)
		}
	}
	if verdict(io.Discard, tallies) {
		t.Error("the gate is met without a point")
	}
	if got := tallies["unseen"].add(0.1, 0.2); got != "ok" || !verdict(io.Discard, tallies) {
		t.Errorf("the last point is marked %q, the gate not met", got)
	}
	if got := tallies["unseen"].add(0.1, 0.26); got != "MISS" {
		t.Errorf("a point whose TPOT is off is marked %q", got)
	}
}
