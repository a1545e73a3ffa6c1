//go:build unix

// Speculation measures when guessing tokens pays: the same requests without
// guesses, with n-grams, with the draft model and with a draft model that guesses
// wrong, in turns in one process, as ratios to plain decoding of the same round.
//
//	go run ./scripts/speculation -rounds 5 -concurrency 1,8
//
// Tokens a second depend on the machine and its other users, tokens a second of CPU
// time less so; steps and acceptance do not depend on them at all. Guesses save
// steps; whether that is time depends on what a step of more tokens costs: little
// where reading the weights is what takes long, its share where arithmetic is.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"llmtop/engine"
)

// prompts are beginnings that the built-in model goes on with.
var prompts = []string{
	"It was 3 am when the pager rang. Mira",
	"TTFT rose from 210 ms to 2400 ms, but TPOT stayed flat at 21 ms. Omar guessed at",
	"The GPU was only 9 percent busy and throughput had dropped. Was it the clocks? No,",
	"<|user|>\nWhat is TTFT?\n<|assistant|>\n",
	"<|user|>\nwhy is my p99 high?\n<|assistant|>\n",
	"<|user|>\nWhat does preemption mean?\n<|assistant|>\n",
	"<|user|>\nTell me a long story about throttling\n<|assistant|>\n",
	"Preemptions were up and the KV cache was full. Lena",
}

// variant is a way to decode, with what was measured of it.
type variant struct {
	name   string
	config engine.Config
	engine *engine.Engine
	speed  []float64 // tokens a second, by round
	thrift []float64 // tokens a second of CPU time
}

func main() {
	rounds := flag.Int("rounds", 3, "rounds of all variants in turns")
	tokens := flag.Int("tokens", 128, "tokens an answer")
	threads := flag.Int("threads", 0, "threads of the forward pass (0: all cores)")
	guesses := flag.Int("guesses", 4, "guesses for a sequence in a step")
	concurrency := flag.String("concurrency", "1,8", "requests at a time, a table for each `number`")
	flag.Parse()
	for _, field := range strings.Split(*concurrency, ",") {
		n, err := strconv.Atoi(field)
		if err == nil {
			err = compare(n, *rounds, *tokens, engine.Config{Threads: *threads, NumSpeculativeTokens: *guesses})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "speculation:", err)
			os.Exit(1)
		}
	}
}

// compare prints the table for one number of requests at a time.
func compare(concurrency, rounds, tokens int, base engine.Config) error {
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	defer loops.Wait()
	defer cancel()
	variants := []*variant{{name: "plain"}, {name: "ngram"}, {name: "draft"}, {name: "bad draft"}}
	for n, kind := range []string{"", engine.SpeculateNgram, engine.SpeculateDraft, engine.SpeculateDraft} {
		v := variants[n]
		v.config = base
		v.config.Speculative, v.config.MaxQueue = kind, engine.Unlimited
		if v.name == "bad draft" {
			v.config.DraftModelPath = engine.RandomDraft
		}
		var err error
		if v.engine, err = engine.New(v.config); err != nil {
			return err
		}
		loops.Go(func() { v.engine.Run(ctx) })
	}
	var want []string
	for round := range rounds + 1 { // the first one warms up
		for _, v := range variants {
			cpu, began := cpuTime(), time.Now()
			texts, total, err := v.answer(concurrency, tokens)
			if err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			if want == nil {
				want = texts
			}
			if !slices.Equal(texts, want) {
				return fmt.Errorf("%s answers differently", v.name)
			}
			if round > 0 {
				v.speed = append(v.speed, float64(total)/time.Since(began).Seconds())
				v.thrift = append(v.thrift, float64(total)/(cpuTime()-cpu).Seconds())
			}
		}
	}
	return table(os.Stdout, concurrency, variants)
}

// cpuTime is what the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// answer sends every prompt and returns the answers and their tokens.
func (v *variant) answer(concurrency, tokens int) (texts []string, total int, err error) {
	texts = make([]string, len(prompts))
	handler, places := v.engine.Handler(), make(chan struct{}, concurrency)
	var all sync.WaitGroup
	var mu sync.Mutex
	for n, p := range prompts {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			body, _ := json.Marshal(map[string]any{"prompt": p, "max_tokens": tokens, "temperature": 0, "ignore_eos": true})
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest("POST", "/v1/completions", strings.NewReader(string(body))))
			var answer struct {
				Choices []struct{ Text string }
				Usage   struct {
					CompletionTokens int `json:"completion_tokens"`
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if e := json.Unmarshal(w.Body.Bytes(), &answer); e != nil || len(answer.Choices) != 1 {
				err = fmt.Errorf("answer with status %d", w.Code)
				return
			}
			texts[n] = answer.Choices[0].Text
			total += answer.Usage.CompletionTokens
		})
	}
	all.Wait()
	return texts, total, err
}

// counter is the value of a series without regard to its labels; 0 when there is none.
func (v *variant) counter(name string) (value float64) {
	w := httptest.NewRecorder()
	v.engine.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for lines := bufio.NewScanner(w.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), name+"{") {
			fields := strings.Fields(lines.Text())
			value, _ = strconv.ParseFloat(fields[len(fields)-1], 64)
		}
	}
	return value
}

// table prints medians over the rounds; the ratio is that of each round to plain decoding.
func table(out io.Writer, concurrency int, variants []*variant) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%d at a time\ttokens/s\tx plain\ttokens/CPU s\tx plain\tsteps\ttokens a step\tguessed\taccepted\t\n", concurrency)
	for _, v := range variants {
		steps, guessed := v.counter("vllm:iteration_tokens_total_count"), v.counter("vllm:spec_decode_num_draft_tokens_total")
		accepted := "-"
		if guessed > 0 {
			accepted = fmt.Sprintf("%.1f %%", 100*v.counter("vllm:spec_decode_num_accepted_tokens_total")/guessed)
		}
		fmt.Fprintf(t, "%s\t%.0f\t%.2f\t%.0f\t%.2f\t%.0f\t%.2f\t%.0f\t%s\t\n", v.name,
			median(v.speed), ratio(v.speed, variants[0].speed), median(v.thrift), ratio(v.thrift, variants[0].thrift), steps,
			v.counter("vllm:generation_tokens_total")/steps, guessed, accepted)
	}
	return t.Flush()
}

// ratio is the median of the ratios of the rounds.
func ratio(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for n := range ratios {
		ratios[n] = a[n] / b[n]
	}
	return median(ratios)
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
