package twin

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"llmtop/engine/twin/cost"
	"llmtop/engine/twin/exposition"
	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
	"llmtop/rules/roofline"
)

// statement is a line of a scenario.
type statement struct {
	name    string
	many    bool // it may stand more than once
	example string
	doc     string
	read    func(p *parser, rest string) error
}

// statements are all there are.
var statements = []statement{
	{"gpu", false, "gpu h100x8", "the GPUs of the host and how many (llmtop twin list gpus)", (*parser).gpu},
	{"model", false, "model llama-3-70b fp8 kv=fp8", "the model, how its weights are kept (bf16), how its KV cache (bf16)", (*parser).model},
	{"tp", false, "tp 4", "tensor-parallel GPUs of a replica (all, divided among the replicas)", func(p *parser, s string) error { return count(&p.TP, s, 1, 64) }},
	{"pp", false, "pp 2", "pipeline stages of a replica (1)", func(p *parser, s string) error { return count(&p.PP, s, 1, 64) }},
	{"replicas", false, "replicas 2", "engines, alike (as many as the GPUs make)", func(p *parser, s string) error { return count(&p.Replicas, s, 1, 64) }},
	{"router", false, "router least-loaded", "who gets a request: round-robin, least-loaded or prefix", func(p *parser, s string) error { return choice(&p.Router, "router", s, Routers) }},
	{"disaggregate", false, "disaggregate 1", "replicas that only compute prompts; the others decode", func(p *parser, s string) error { return count(&p.Prefills, s, 1, 63) }},
	{"linear", false, "linear base=4ms prefill=90us decode=400us context=30us", "an engine that was measured, in place of gpu and model: time of a step, for each prompt token, sequence and thousand tokens of context", (*parser).linear},
	{"engine", false, "engine vllm max_num_seqs=256 token_budget=8192", "whose metrics it shows (llmtop twin list engines), and its settings", (*parser).settings},
	{"cpus", false, "cpus 112", "cores of the host (14 for each GPU, at least 8)", func(p *parser, s string) error { return count(&p.CPUs, s, 1, 1024) }},
	{"workload", true, "workload chat rate=12", "requests of a kind (llmtop twin list workloads); several lines are a mix", (*parser).workload},
	{"rate", false, "rate 12", "requests per second, of the workloads that have a share in place of a rate", (*parser).rate},
	{"trace", false, "trace requests.csv ×2", "requests of a trace, faster or slower", (*parser).trace},
	{"seed", false, "seed 7", "the same seed, the same run (1)", func(p *parser, s string) (err error) {
		if p.Seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			return fmt.Errorf("must be a whole number from 0, not %.40q", s)
		}
		return nil
	}},
	{"spread", false, "spread 0.1", "by how much what nobody stated varies with the seed, 0 to 0.5 (0.1)", func(p *parser, s string) error { return number(&p.Spread, s, 0, 0.5) }},
	{"duration", false, "duration 10m", "of the run (10m)", func(p *parser, s string) error { return duration(&p.Duration, s, minDuration, maxDuration) }},
	{"interval", false, "interval 1s", "from one sample to the next (1s)", func(p *parser, s string) error { return duration(&p.Interval, s, 100*time.Millisecond, time.Minute) }},
	{"start", false, "start 2026-01-01T00:00:00Z", "when the run begins (that)", (*parser).start},
	{"warm", false, "warm 1m", "for how long the engines have served when the run begins (1m)", func(p *parser, s string) error { return duration(&p.Warm, s, 0, time.Hour) }},
	{"canary", false, "canary 10s", "how often llmtop sends each engine a request of its own, the way that clients do (never)", func(p *parser, s string) error { return duration(&p.Canary, s, time.Second, time.Hour) }},
	{"without", false, "without profile gpu", "what nobody sees of it: gpu, host, stages, profile", (*parser).without},
	{"at", true, "at 60s for 30s kv_pool ×0.3", "a change of a knob (llmtop twin list knobs)", (*parser).turn},
}

// What may be said.
var (
	Routers       = []string{"round-robin", "least-loaded", "prefix"}
	Personalities = exposition.Names()
	Sections      = []string{WithoutGPU, WithoutHost, WithoutStages, WithoutProfile}
)

// Statement is a line of a scenario, for documents.
type Statement struct{ Name, Example, Doc string }

// Statements are all there are, in the order of the documents.
func Statements() []Statement {
	all := make([]Statement, len(statements))
	for i, s := range statements {
		all[i] = Statement{s.name, s.example, s.doc}
	}
	return all
}

// maxGPUs is the most that a host has.
const maxGPUs = 64

// gpu reads "h100x8".
func (p *parser) gpu(rest string) (err error) {
	name, n := rest, 1
	if p.GPU, err = roofline.LookupGPU(name); err != nil { // some names have an x themselves
		name, n = countedName(rest)
		if p.GPU, err = roofline.LookupGPU(name); err != nil && n > maxGPUs { // that was no count
			return knob.Unknown("GPU", rest, gpuNames())
		}
		if err != nil {
			return knob.Unknown("GPU", name, gpuNames())
		}
	}
	if n < 1 || n > maxGPUs {
		return fmt.Errorf("%d of them: a host has 1 to %d", n, maxGPUs)
	}
	p.GPUs = n
	return nil
}

// countedName splits "h100x8"; without a number it is one.
func countedName(text string) (string, int) {
	if i := strings.LastIndexAny(text, "x×"); i > 0 {
		number := strings.TrimLeft(text[i:], "x×")
		if n, err := strconv.Atoi(strings.TrimSpace(number)); err == nil {
			return strings.TrimSpace(text[:i]), n
		}
	}
	return text, 1
}

func gpuNames() []string {
	names := make([]string, len(roofline.GPUs))
	for i := range names {
		names[i] = roofline.GPUs[i].Name
	}
	return names
}

// model reads "llama-3-70b fp8 kv=fp8".
func (p *parser) model(rest string) (err error) {
	words := strings.Fields(rest)
	if p.Model, err = roofline.LookupModel(words[0]); err != nil {
		names := make([]string, len(roofline.Models))
		for i := range names {
			names[i] = roofline.Models[i].Name
		}
		return knob.Unknown("model", words[0], names)
	}
	words = words[1:]
	if len(words) > 0 && !strings.Contains(words[0], "=") {
		words[0] = "weights=" + words[0]
	}
	return named(words, func(name, value string) (err error) {
		switch name {
		case "kv":
			p.KV, err = roofline.LookupDType(value)
		case "weights":
			p.Weights, err = roofline.LookupDType(value)
		default:
			err = knob.Unknown("option of model", name, []string{"weights", "kv"})
		}
		return err
	})
}

// linear reads the four numbers of a measured engine.
func (p *parser) linear(rest string) error {
	p.Linear = new(cost.Linear)
	to := map[string]*time.Duration{"base": &p.Linear.Base, "prefill": &p.Linear.Prefill, "decode": &p.Linear.Decode, "context": &p.Linear.Context}
	err := named(strings.Fields(rest), func(name, value string) error {
		if to[name] == nil {
			return knob.Unknown("option of linear", name, []string{"base", "prefill", "decode", "context"})
		}
		if err := duration(to[name], value, 0, time.Minute); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if err == nil && p.Linear.Base <= 0 {
		err = errors.New("a step takes some time: base must be above 0")
	}
	return err
}

func (p *parser) workload(rest string) error {
	if len(p.Workload.Streams) == workload.MaxStreams {
		return fmt.Errorf("more than %d of them", workload.MaxStreams)
	}
	p.loads = append(p.loads, p.line)
	s, err := workload.ParseStream(rest)
	p.Workload.Streams = append(p.Workload.Streams, s)
	return err
}

func (p *parser) rate(rest string) (err error) {
	p.Workload.Rate, err = workload.ParseRate(rest)
	return err
}

// trace reads "FILE ×2".
func (p *parser) trace(rest string) (err error) {
	words := strings.Fields(rest)
	if len(words) > 2 {
		return fmt.Errorf("%d words: write a file, and ×2 if it is to come twice as fast", len(words))
	}
	if len(words) == 2 {
		times, ok := strings.CutPrefix(strings.Replace(words[1], "x", "×", 1), "×")
		if !ok {
			return fmt.Errorf("%.40q: write ×2 if it is to come twice as fast", words[1])
		}
		if err := number(&p.Workload.Speed, times, 1e-3, 1e3); err != nil {
			return err
		}
	}
	p.Workload.Trace, err = p.open(words[0])
	return err
}

func (p *parser) start(rest string) (err error) {
	if p.Start, err = time.Parse(time.RFC3339, rest); err != nil || p.Start.Year() < 1970 || p.Start.Year() > 2200 {
		return fmt.Errorf("must be a time like 2026-01-01T00:00:00Z, not %.40q", rest)
	}
	return nil
}

func (p *parser) without(rest string) error {
	words := strings.FieldsFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || r == ',' })
	if len(words) == 0 {
		return fmt.Errorf("no section is named; there are %s", strings.Join(Sections, ", "))
	}
	for _, w := range words {
		if !slices.Contains(Sections, w) {
			return knob.Unknown("section", w, Sections)
		}
		if slices.Contains(p.Without, w) {
			return fmt.Errorf("%s is there twice", w)
		}
		p.Without = append(p.Without, w)
	}
	return nil
}

func count(to *int, s string, low, high int) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		return fmt.Errorf("must be a whole number from %d to %d, not %.40q", low, high, s)
	}
	*to = n
	return nil
}

func number(to *float64, s string, low, high float64) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= low && v <= high) {
		return fmt.Errorf("must be a number from %g to %g, not %.40q", low, high, s)
	}
	*to = v
	return nil
}

func duration(to *time.Duration, s string, low, high time.Duration) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < low || d > high {
		return fmt.Errorf("must be a time from %s to %s, as 90s or 10m, not %.40q", low, high, s)
	}
	*to = d
	return nil
}

func choice(to *string, what, s string, of []string) error {
	if !slices.Contains(of, s) {
		return knob.Unknown(what, s, of)
	}
	*to = s
	return nil
}
