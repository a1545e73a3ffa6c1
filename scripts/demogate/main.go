// Demogate measures the demo's promise: a fault is named first, soon, and with at
// least two independent kinds of evidence; a healthy engine gets no name at all.
//
//	go run ./scripts/demogate                        queue-backlog 10 times, then 3 healthy minutes
//	go run ./scripts/demogate -runs 1 -faults all    each fault of the demo once
//
// It prints a line a run and ends with status 1 when a run missed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"time"

	"llmtop/scripts/internal/child"
)

// A name counts when it comes within this time of the fault's beginning.
const within = 20 * time.Second

// verdict is what is needed of a line of `llmtop demo --headless --json`.
type verdict struct {
	Time   time.Time
	State  string
	Causes []struct {
		ID       string
		Evidence []struct{ Kind string }
	}
}

// outcome of one run.
type outcome struct {
	fault string
	named string        // the first cause named after the fault began
	delay time.Duration // from the fault's beginning
	kinds []string      // of its evidence
	early string        // a cause named before the fault began
}

func (o outcome) ok() bool {
	return o.named == o.fault && o.delay <= within && len(o.kinds) >= 2 && o.early == ""
}

func (o outcome) String() string {
	word := "ok  "
	if !o.ok() {
		word = "MISS"
	}
	text := fmt.Sprintf("%s %-22s named %-22s after %4.1f s, evidence: %s", word, o.fault, o.named, o.delay.Seconds(), strings.Join(o.kinds, ", "))
	if o.early != "" {
		text += ", and before the fault " + o.early
	}
	return text
}

func main() {
	runs := flag.Int("runs", 10, "runs of each fault")
	faults := flag.String("faults", "queue-backlog", "comma-separated ids, or all")
	healthy := flag.Duration("healthy", 3*time.Minute, "length of the healthy run (0: none)")
	after := flag.Duration("after", 25*time.Second, "the fault begins between this and one and a half times this")
	flag.Parse()
	missed, err := gate(*runs, *faults, *healthy, *after)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demogate:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Printf("%d runs missed\n", missed)
		os.Exit(1)
	}
}

func gate(runs int, faults string, healthy, after time.Duration) (missed int, err error) {
	llmtop, err := child.Build()
	if err != nil {
		return 0, err
	}
	defer llmtop.Remove()
	exe := llmtop.Path
	if faults == "all" {
		faults = "queue-backlog,mix-shift,prefill-interference,kv-preemption-storm,cpu-noisy-neighbour,tokenize-bound"
	}
	var delays []float64
	for _, fault := range strings.Split(faults, ",") {
		for range runs {
			o, err := faulty(exe, fault, after)
			if err != nil {
				return missed, err
			}
			fmt.Println(o)
			if !o.ok() {
				missed++
			}
			delays = append(delays, o.delay.Seconds())
		}
	}
	if sort.Float64s(delays); len(delays) > 0 {
		fmt.Printf("time to the name: median %.1f s, worst %.1f s of %d runs\n", delays[len(delays)/2], delays[len(delays)-1], len(delays))
	}
	if healthy > 0 {
		named, unknown, err := quiet(exe, healthy)
		if err != nil {
			return missed, err
		}
		fmt.Printf("healthy for %s: named %v, unknown slowdowns in %d samples\n", healthy, named, unknown)
		missed += len(named)
	}
	return missed, nil
}

// faulty runs the demo until the fault is named, or long enough to say that it was not.
func faulty(exe, fault string, after time.Duration) (outcome, error) {
	o := outcome{fault: fault}
	begin := make(chan time.Time, 1)
	var began time.Time
	err := demo(exe, []string{"--fault", fault, "--after", after.String(), "--for", (after*3/2 + within + 15*time.Second).String()}, begin, func(v verdict) bool {
		if began.IsZero() {
			select {
			case began = <-begin:
			default:
			}
		}
		if len(v.Causes) == 0 {
			return true
		}
		if began.IsZero() || v.Time.Before(began) {
			o.early = v.Causes[0].ID
			return true
		}
		o.named, o.delay = v.Causes[0].ID, v.Time.Sub(began)
		seen := map[string]bool{}
		for _, e := range v.Causes[0].Evidence {
			if !seen[e.Kind] && e.Kind != "latency" {
				seen[e.Kind] = true
				o.kinds = append(o.kinds, e.Kind)
			}
		}
		return false
	})
	return o, err
}

// quiet runs the healthy demo and returns every cause that was named.
func quiet(exe string, length time.Duration) (named []string, unknown int, err error) {
	err = demo(exe, []string{"--fault", "none", "--for", (length + 10*time.Second).String()}, nil, func(v verdict) bool {
		if v.State == "unknown" {
			unknown++
		}
		for _, c := range v.Causes {
			named = append(named, c.ID)
		}
		return true
	})
	return named, unknown, err
}

var beginLine = regexp.MustCompile(`begins at (\S+):`)

// demo runs `llmtop demo --headless --json` and gives each verdict to see until that returns false.
func demo(exe string, args []string, begin chan<- time.Time, see func(verdict) bool) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, append([]string{"demo", "--headless", "--json"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go watch(stderr, begin)
	samples := 0
	for lines := json.NewDecoder(stdout); ; samples++ {
		var v verdict
		if err := lines.Decode(&v); err != nil || !see(v) {
			break
		}
	}
	cancel()
	cmd.Wait() // its verdicts were read; how it ended says nothing more
	if samples == 0 {
		return fmt.Errorf("llmtop demo %s gave no verdict", strings.Join(args, " "))
	}
	return nil
}

// watch looks for the moment of the fault in what the demo logs.
func watch(log io.Reader, begin chan<- time.Time) {
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if m := beginLine.FindStringSubmatch(lines.Text()); m != nil && begin != nil {
			if t, err := time.Parse(time.RFC3339Nano, m[1]); err == nil {
				begin <- t
			}
		}
	}
}
