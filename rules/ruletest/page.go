package ruletest

import (
	"strconv"
	"time"

	"llmtop/probes"
)

// page is a metrics page under vLLM's names, cumulative.
type page struct {
	hists     []*pageHistogram
	schema    *probes.Schema
	preempted float64
	finished  float64
	prompt    float64
	output    float64
}

type pageHistogram struct {
	name   string
	bounds []float64
	counts []float64 // per bucket, the last one +Inf
	sum    float64
}

// Bucket bounds of vLLM's histograms: TTFT, per-token and whole-request times, lengths.
var (
	ttftBounds   = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	tokenBounds  = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10}
	wholeBounds  = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120}
	lengthBounds = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000}
)

const (
	hTTFT = iota
	hTPOT
	hStep
	hE2E
	hQueue
	hPrefill
	hDecode
	hPrompt
	hOutput
)

func newPage() *page {
	p := &page{}
	for _, h := range []struct {
		name   string
		bounds []float64
	}{
		{"vllm:time_to_first_token_seconds", ttftBounds}, {"vllm:request_time_per_output_token_seconds", tokenBounds},
		{"vllm:inter_token_latency_seconds", tokenBounds}, {"vllm:e2e_request_latency_seconds", wholeBounds},
		{"vllm:request_queue_time_seconds", wholeBounds}, {"vllm:request_prefill_time_seconds", wholeBounds},
		{"vllm:request_decode_time_seconds", wholeBounds}, {"vllm:request_prompt_tokens", lengthBounds}, {"vllm:request_generation_tokens", lengthBounds},
	} {
		p.hists = append(p.hists, &pageHistogram{name: h.name, bounds: h.bounds, counts: make([]float64, len(h.bounds)+1)})
	}
	p.schema = p.names()
	return p
}

func (h *pageHistogram) add(v, times float64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i] += times
	h.sum += v * times
}

// observe adds a finished request.
func (p *page) observe(r *probes.Request, step, slow, slowShare float64) {
	tokens := float64(r.OutputTokens - 1)
	tpot, _ := r.TPOTSeconds()
	p.hists[hTTFT].add(r.TTFTSeconds.Or(0), 1)
	p.hists[hTPOT].add(tpot, 1)
	p.hists[hStep].add(step, tokens*(1-slowShare))
	if slowShare > 0 {
		p.hists[hStep].add(slow, tokens*slowShare)
	}
	p.hists[hE2E].add(r.E2ESeconds.Or(0), 1)
	p.hists[hQueue].add(r.Stages[probes.StageQueue], 1)
	p.hists[hPrefill].add(r.Stages[probes.StagePrefill], 1)
	p.hists[hDecode].add(r.Stages[probes.StageDecode], 1)
	p.hists[hPrompt].add(float64(r.PromptTokens), 1)
	p.hists[hOutput].add(float64(r.OutputTokens), 1)
	p.finished++
	p.prompt += float64(r.PromptTokens)
	p.output += float64(r.OutputTokens)
}

// names is the page's shape.
func (p *page) names() *probes.Schema {
	s := &probes.Schema{}
	add := func(family, name string, t probes.MetricType, labels ...probes.Label) {
		s.Series = append(s.Series, probes.Series{Family: family, Name: name, Type: t,
			Labels: append(labels, probes.Label{Name: "model_name", Value: "test"})})
	}
	for _, g := range []string{"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"} {
		add(g, g, probes.Gauge)
	}
	for _, c := range []string{"vllm:num_preemptions", "vllm:prompt_tokens", "vllm:generation_tokens"} {
		add(c, c+"_total", probes.Counter)
	}
	add("vllm:request_success", "vllm:request_success_total", probes.Counter, probes.Label{Name: "finished_reason", Value: "stop"})
	for _, h := range p.hists {
		for _, b := range h.bounds {
			add(h.name, h.name+"_bucket", probes.HistogramType, probes.Label{Name: "le", Value: strconv.FormatFloat(b, 'g', -1, 64)})
		}
		add(h.name, h.name+"_bucket", probes.HistogramType, probes.Label{Name: "le", Value: "+Inf"})
		add(h.name, h.name+"_sum", probes.HistogramType)
		add(h.name, h.name+"_count", probes.HistogramType)
	}
	return s
}

// scrape is the page at a moment, in the order of names.
func (p *page) scrape(at time.Time, w *world) *probes.Scrape {
	v := []float64{w.at("batch.running"), w.at("queue.waiting"), w.at("kv.usage"), float64(int(p.preempted)), p.prompt, p.output, p.finished}
	for _, h := range p.hists {
		total := 0.0
		for _, c := range h.counts {
			total += c
			v = append(v, total)
		}
		v = append(v, h.sum, total)
	}
	return &probes.Scrape{At: at, Endpoint: "http://engine", Schema: p.schema, Values: v}
}
