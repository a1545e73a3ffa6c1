// Policies puts the same load on the engine under each scheduling policy, one after
// the other, and prints what users would feel and what the engine gets done.
//
//	go run ./scripts/policies                                    all three, half a minute each
//	go run ./scripts/policies -rate 4 -for 1m -policies continuous,static
//
// A policy named "default" is an engine that is told none.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"llmtop/scripts/internal/child"
)

// workload is what is sent under each policy.
type workload struct {
	rate           float64
	length         time.Duration
	prompt, output int // tokens
	shared         int // of the prompt
	seed           int64
}

// result is what is needed of `llmtop load --json`.
type result struct {
	Sent, Completed, Rejected uint64
	Failed                    uint64
	TimedOut                  uint64   `json:"timed_out"`
	TTFT                      *summary `json:"ttft_seconds"`
	TPOT                      *summary `json:"tpot_seconds"`
	E2E                       *summary `json:"e2e_seconds"`
	Tokens                    struct {
		OutPerSecond float64 `json:"out_per_second"`
	}
	Client struct{ Bottleneck []string }
}

type summary struct{ P50, P95 float64 }

func main() {
	var w workload
	policies := flag.String("policies", "continuous,dynamic,static", "comma-separated")
	flag.Float64Var(&w.rate, "rate", 3, "requests a second")
	flag.DurationVar(&w.length, "for", 30*time.Second, "how long to send under each policy")
	flag.IntVar(&w.prompt, "prompt-tokens", 120, "prompt length")
	flag.IntVar(&w.output, "output-tokens", 60, "answer length at most")
	flag.IntVar(&w.shared, "shared-prefix-tokens", 0, "of the prompt")
	flag.Int64Var(&w.seed, "seed", 1, "of the load: the same requests at the same times")
	flag.Parse()
	if err := compare(os.Stdout, strings.Split(*policies, ","), w); err != nil {
		fmt.Fprintln(os.Stderr, "policies:", err)
		os.Exit(1)
	}
}

func compare(out io.Writer, policies []string, w workload) error {
	exe, err := child.Build()
	if err != nil {
		return err
	}
	defer exe.Remove()
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "policy\tsent\tcompleted\trejected\tlost\ttokens/s\tTTFT p50\tTTFT p95\tTPOT p50\tTPOT p95\tE2E p50\tE2E p95\t")
	for _, p := range policies {
		r, err := measure(exe, p, w)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		fmt.Fprintln(t, row(p, r))
		for _, why := range r.Client.Bottleneck {
			fmt.Fprintf(os.Stderr, "policies: under %s the client was the bottleneck: %s\n", p, why)
		}
	}
	return t.Flush()
}

// measure serves under a policy and puts the load on.
func measure(exe *child.Binary, policy string, w workload) (r result, err error) {
	var args []string
	if policy != "default" {
		args = []string{"--scheduling-policy", policy}
	}
	e, err := exe.Serve(args...)
	if err != nil {
		return r, err
	}
	defer e.Stop()
	cmd := exec.Command(exe.Path, "load", "--json", "--rate", fmt.Sprint(w.rate), "--duration", w.length.String(),
		"--prompt-tokens", strconv.Itoa(w.prompt), "--output-tokens", strconv.Itoa(w.output),
		"--shared-prefix-tokens", strconv.Itoa(w.shared), "--seed", fmt.Sprint(w.seed), e.URL)
	cmd.Stderr = os.Stderr
	report, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("llmtop load: %w", err)
	}
	return r, json.Unmarshal(report, &r)
}

func row(policy string, r result) string {
	cells := []string{
		policy, fmt.Sprint(r.Sent), fmt.Sprint(r.Completed), fmt.Sprint(r.Rejected), fmt.Sprint(r.Failed + r.TimedOut),
		fmt.Sprintf("%.1f", r.Tokens.OutPerSecond),
	}
	for _, s := range []*summary{r.TTFT, r.TPOT, r.E2E} {
		if s == nil {
			cells = append(cells, "-", "-")
			continue
		}
		cells = append(cells, milliseconds(s.P50), milliseconds(s.P95))
	}
	return strings.Join(cells, "\t") + "\t"
}

func milliseconds(s float64) string { return fmt.Sprintf("%.1f ms", s*1000) }
