package main

import (
	"fmt"
	"io"
	"time"
)

// table prints the samples.
type table struct {
	out     io.Writer
	view    *engineView
	ledger  *ledger
	started time.Time
}

func (t *table) head() {
	fmt.Fprintf(t.out, "%8s %8s %8s %8s %8s %8s %6s %8s %8s %6s %10s %6s %8s %8s\n",
		"time", "sent", "answered", "rejected", "left", "running", "queue", "KV used", "preempt", "hits", "goroutines", "fds", "RSS MiB", "heap MiB")
}

// line prints how things stand now.
func (t *table) line() {
	p, err := t.view.scrape()
	if err != nil {
		fmt.Fprintf(t.out, "%8s %v\n", time.Since(t.started).Round(time.Second), err)
		return
	}
	a := t.ledger.copy()
	hits := p.sum("vllm:prefix_cache_hits_total") / max(1, p.sum("vllm:prefix_cache_queries_total"))
	fmt.Fprintf(t.out, "%8s %8d %8d %8d %8d %8.0f %6.0f %7.0f%% %8.0f %5.0f%% %10.0f %6.0f %8.1f %8.1f\n",
		time.Since(t.started).Round(time.Second), a.sent, a.endings[answered], a.endings[rejected], a.endings[left],
		p.sum("vllm:num_requests_running"), p.sum("vllm:num_requests_waiting"), 100*p.sum("vllm:kv_cache_usage_perc"),
		p.sum("vllm:num_preemptions_total"), 100*hits,
		p.sum("go_goroutines"), p.sum("process_open_fds"), mib(p.sum("process_resident_memory_bytes")), mib(p.sum("go_memstats_heap_alloc_bytes")))
}

// each prints a line every so often until the returned func is called.
func (t *table) each(every time.Duration) (stop func()) {
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				t.line()
			}
		}
	}()
	return func() { close(done); <-over }
}

func mib(bytes float64) float64 { return bytes / (1 << 20) }
