package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// slack is how much more than before an engine may hold: what the runtime keeps and
// what is in the act of ending.
type slack struct {
	goroutines, fds float64
	rss, heap       float64 // bytes
}

// usual: the runtime gives memory back late and in arenas of 4 MiB and more, and the
// engine remembers its last 8192 requests, which takes 3 MiB.
var usual = slack{goroutines: 2, fds: 2, rss: 24 << 20, heap: 8 << 20}

// check is one thing that must hold.
type check struct {
	what  string
	holds bool
	facts string
}

// leftovers looks for what has stayed behind in an engine at rest.
func leftovers(before, after atRest, s slack) []check {
	p := after.page
	grown := func(what, series string, more, unit float64) check {
		was, is := before.page.sum(series), p.sum(series)
		return check{what, is > 0 && is <= was+more, fmt.Sprintf("%.1f before, %.1f after, %.1f more allowed", was/unit, is/unit, more/unit)}
	}
	used, cached, free := p.sum("llmtop:kv_blocks", `state="used"`), p.sum("llmtop:kv_blocks", `state="cached"`), p.sum("llmtop:kv_blocks", `state="free"`)
	total := before.page.sum("llmtop:kv_blocks")
	running, waiting := p.sum("vllm:num_requests_running"), p.sum("vllm:num_requests_waiting")
	return []check{
		{"no KV block in use", used == 0 && p.sum("vllm:kv_cache_usage_perc") == 0, fmt.Sprintf("%.0f used", used)},
		{"every KV block accounted for", total > 0 && cached+free == total, fmt.Sprintf("%.0f cached + %.0f free of %.0f", cached, free, total)},
		{"no request left", after.inFlight == 0 && running+waiting == 0, fmt.Sprintf("%d in flight, %.0f running, %.0f waiting", after.inFlight, running, waiting)},
		grown("goroutines", "go_goroutines", s.goroutines, 1),
		grown("file descriptors", "process_open_fds", s.fds, 1),
		grown("resident memory, MiB", "process_resident_memory_bytes", s.rss, 1<<20),
		grown("heap after a collection, MiB", "go_memstats_heap_alloc_bytes", s.heap, 1<<20),
	}
}

// balance holds what the clients saw against what the engine says and has counted
// since they began: each request ended once, and as its client saw it. Of those who
// left the engine may say anything, or nothing if they left before it saw them; and
// what it has counted as completed or rejected may be aborted in its record, when
// the client left at that moment.
func balance(p page, a accounts) []check {
	ended := 0
	for _, n := range a.finishes {
		ended += n
	}
	done := a.finishes["stop"] + a.finishes["length"]
	handled := p.sum("http_requests_total", `handler="/v1/`, `method="POST"`)
	counted := p.sum("vllm:request_success_total", `"stop"`) + p.sum("vllm:request_success_total", `"length"`)
	refusals := p.sum("vllm:admission_rejections_total")
	within := func(engine, client int) bool { return engine >= client && engine <= client+a.endings[left] }
	agree := func(metric float64, records int) bool {
		return int(metric) >= records && int(metric) <= records+a.finishes["abort"]
	}
	return []check{
		{"no unexpected ending", a.endings[failed] == 0, strings.Join(a.wrong, "; ")},
		{"no 5xx", p.sum("http_requests_total", `status="5xx"`) == 0, fmt.Sprintf("%.0f", p.sum("http_requests_total", `status="5xx"`))},
		{"something was answered", a.endings[answered] > 0, fmt.Sprintf("%d", a.endings[answered])},
		{"requests that came = requests that ended", int(handled) == ended, fmt.Sprintf("%.0f handled, %d ended: %s", handled, ended, counts(a.finishes))},
		{"sent = answered + rejected + refused + left", a.sent == sum(a.endings), fmt.Sprintf("%d sent: %s", a.sent, counts(a.endings))},
		{"the engine ended those that were sent", within(ended, a.sent-a.endings[left]), fmt.Sprintf("%d ended of %d", ended, a.sent)},
		{"answered as clients saw it", within(done, a.endings[answered]), fmt.Sprintf("%d completed, %d seen, %d left", done, a.endings[answered], a.endings[left])},
		{"completed in metrics as in records", agree(counted, done), fmt.Sprintf("%.0f, %d and %d aborted", counted, done, a.finishes["abort"])},
		{"rejected as clients saw it", within(a.finishes["rejected"], a.endings[rejected]), fmt.Sprintf("%d rejected, %d seen", a.finishes["rejected"], a.endings[rejected])},
		{"rejected in metrics as in records", agree(refusals, a.finishes["rejected"]), fmt.Sprintf("%.0f, %d and %d aborted", refusals, a.finishes["rejected"], a.finishes["abort"])},
		{"errors are those of wrong requests", a.finishes["error"] <= a.endings[refused], fmt.Sprintf("%d errors, %d wrong requests", a.finishes["error"], a.endings[refused])},
	}
}

// report prints the checks and says whether all hold.
func report(out io.Writer, checks []check) bool {
	passed := true
	fmt.Fprintln(out)
	for _, c := range checks {
		word := "ok  "
		if !c.holds {
			word, passed = "FAIL", false
		}
		fmt.Fprintf(out, "%s  %-46s %s\n", word, c.what, c.facts)
	}
	if passed {
		fmt.Fprintln(out, "PASS")
	} else {
		fmt.Fprintln(out, "FAIL")
	}
	return passed
}

func sum[K comparable](m map[K]int) (total int) {
	for _, n := range m {
		total += n
	}
	return total
}

// counts writes a map as text, in the order of its keys.
func counts[K ~string](m map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%d %s", m[k], k))
	}
	return strings.Join(parts, ", ")
}
