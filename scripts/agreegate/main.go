// Agreegate holds what the engine's metrics say against what a client of its own
// measured of the same requests: llmtop serve runs in a process of its own, the load
// in this one, and /metrics is read before and after the way llmtop reads it.
//
//	go run ./scripts/agreegate            one minute of load
//	go run ./scripts/agreegate -for 20s   the same, shorter
//
// Counts and means have to agree within 2 %, quantiles within one bucket. It prints a
// line a number and ends with status 1 when one misses.
//
// Client and engine do not look at the same span. The client's begins when a request
// was due: it sends it a little later (its own lag, which it measures: the mean is
// taken off). It then counts the way there and back, some tenths of a millisecond,
// and the first bytes of an answer cost more than the later ones. So the load has long
// prompts and long answers at a modest rate: TTFT and E2E are then hundreds of
// milliseconds. The engine gets one thread, which leaves a core for the client.
// Warm-up and rest lie before the first scrape, and the second waits until all is
// finished, as most of the engine's numbers move when a request ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"llmtop/engine/load"
	"llmtop/probes"
	"llmtop/probes/dialect"
	"llmtop/probes/scrape"
	"llmtop/scripts/internal/child"
)

// plan is the load.
type plan struct {
	length, warm   time.Duration
	rate           float64 // requests a second
	prompt, output int     // tokens
	seed           int64
}

func main() {
	p := plan{}
	flag.DurationVar(&p.length, "for", time.Minute, "how long to send")
	flag.DurationVar(&p.warm, "warm", 5*time.Second, "load before the measurement")
	flag.Float64Var(&p.rate, "rate", 1, "requests a second")
	flag.IntVar(&p.prompt, "prompt-tokens", 600, "length of a prompt, about")
	flag.IntVar(&p.output, "output-tokens", 250, "length of an answer")
	flag.Int64Var(&p.seed, "seed", 1, "of the load")
	flag.Parse()
	missed, err := gate(p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "agreegate:", err)
		os.Exit(2)
	}
	if missed > 0 {
		fmt.Printf("%d numbers missed\n", missed)
		os.Exit(1)
	}
}

func gate(p plan) (missed int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	llmtop, err := child.Build()
	if err != nil {
		return 0, err
	}
	defer llmtop.Remove()
	engine, err := llmtop.Serve("--threads", "1", "--max-queue", "-1")
	if err != nil {
		return 0, err
	}
	defer engine.Stop()
	client, before, after, err := measure(ctx, engine.URL, p)
	if err != nil {
		return 0, err
	}
	rows, err := compare(client, before, after)
	if err != nil {
		return 0, err
	}
	return report(os.Stdout, rows), nil
}

// measure puts the load on and reads the page before and after.
func measure(ctx context.Context, url string, p plan) (client load.Report, before, after *probes.Engine, err error) {
	v := view{probe: scrape.New(url, scrape.Options{})}
	defer v.probe.Close()
	c := load.Config{URL: url, Rate: p.rate, PromptTokens: p.prompt, PromptSpread: 0.3, OutputTokens: p.output, ForceOutput: true}
	c.Duration, c.Seed = p.warm, p.seed+1
	if _, err = load.Run(ctx, c); err != nil {
		return client, nil, nil, err
	}
	if before, err = v.rest(ctx); err != nil {
		return client, nil, nil, err
	}
	c.Duration, c.Seed = p.length, p.seed
	if client, err = load.Run(ctx, c); err != nil {
		return client, nil, nil, err
	}
	if after, err = v.rest(ctx); err != nil {
		return client, nil, nil, err
	}
	return client, before, after, fair(ctx, client)
}

// fair refuses a run that cannot be compared.
func fair(ctx context.Context, r load.Report) error {
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case r.Completed < 10:
		return fmt.Errorf("only %d requests completed: too few to compare", r.Completed)
	case r.Completed != r.Sent:
		return fmt.Errorf("of %d requests %d were rejected, %d timed out, %d failed: the client measures those that completed only", r.Sent, r.Rejected, r.TimedOut, r.Failed)
	case len(r.Client.Bottleneck) > 0:
		return fmt.Errorf("the client was the bottleneck, the run says nothing of the engine: %v", r.Client.Bottleneck)
	case r.Tokens.Estimated:
		return errors.New("the engine told no token counts")
	}
	return nil
}

// view reads the engine's page as llmtop does.
type view struct{ probe *scrape.Probe }

// restWithin is how long an engine may take to finish what it has.
const restWithin = 30 * time.Second

// rest waits until nothing runs or waits, in two looks that are the same, and returns
// what the engine says then.
func (v view) rest(ctx context.Context) (*probes.Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, restWithin)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var last *probes.Engine
	for {
		section, err := v.probe.Read(ctx)
		if err != nil {
			return nil, err
		}
		page, _ := section.(*probes.Scrape)
		e := dialect.Decode(page)
		if e == nil {
			return nil, errors.New("the engine's page is in no known dialect")
		}
		if e.Running.Or(1) == 0 && e.Waiting.Or(1) == 0 {
			if last != nil && last.Finished == e.Finished {
				return e, nil
			}
			last = e
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("the engine does not come to rest")
		case <-tick.C:
		}
	}
}
