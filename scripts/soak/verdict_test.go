package main

import (
	"slices"
	"strings"
	"testing"
)

const restPage = `# HELP go_goroutines Number.
go_goroutines 12
process_open_fds 11
process_resident_memory_bytes 5e+07
go_memstats_heap_alloc_bytes 2e+07
vllm:num_requests_running{engine="0",model_name="oncall"} 0
vllm:num_requests_waiting{engine="0",model_name="oncall"} 0
vllm:kv_cache_usage_perc{engine="0",model_name="oncall"} 0
llmtop:kv_blocks{engine="0",model_name="oncall",state="used"} 0
llmtop:kv_blocks{engine="0",model_name="oncall",state="cached"} 60
llmtop:kv_blocks{engine="0",model_name="oncall",state="free"} 4
http_requests_total{handler="/v1/completions",method="POST",status="2xx"} 7
http_requests_total{handler="/v1/completions",method="POST",status="4xx"} 4
http_requests_total{handler="/metrics",method="GET",status="2xx"} 99
vllm:request_success_total{engine="0",finished_reason="stop",model_name="oncall"} 3
vllm:request_success_total{engine="0",finished_reason="length",model_name="oncall"} 3
vllm:admission_rejections_total{engine="0",model_name="oncall",reason="queue_full"} 2
`

func readText(t *testing.T, text string) page {
	t.Helper()
	p, err := readPage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// account is one in which all is in order: of 12 requests one never reached the engine.
func account() accounts {
	return accounts{
		sent:     12,
		endings:  map[ending]int{answered: 5, rejected: 2, refused: 1, left: 4},
		finishes: map[string]int{"stop": 3, "length": 3, "rejected": 2, "error": 1, "abort": 2},
	}
}

// failures are the checks that do not hold.
func failures(checks []check) (names []string) {
	for _, c := range checks {
		if !c.holds {
			names = append(names, c.what)
		}
	}
	return names
}

// Each thing that can stay behind is found, and nothing else is said.
func TestLeftovers(t *testing.T) {
	before := atRest{page: readText(t, restPage)}
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{"go_goroutines 12", "go_goroutines 15", "goroutines"},
		{"go_goroutines 12", "go_goroutines 14", ""},
		{"process_open_fds 11", "process_open_fds 20", "file descriptors"},
		{"memory_bytes 5e+07", "memory_bytes 9e+07", "resident memory, MiB"},
		{"heap_alloc_bytes 2e+07", "heap_alloc_bytes 6e+07", "heap after a collection, MiB"},
		{"heap_alloc_bytes 2e+07", "other 1", "heap after a collection, MiB"},
		{`state="free"} 4`, `state="free"} 3`, "every KV block accounted for"},
		{`running{engine="0",model_name="oncall"} 0`, `running{engine="0",model_name="oncall"} 1`, "no request left"},
		{`usage_perc{engine="0",model_name="oncall"} 0`, `usage_perc{engine="0",model_name="oncall"} 0.01`, "no KV block in use"},
	} {
		after := atRest{page: readText(t, strings.Replace(restPage, c.from, c.to, 1))}
		if got := strings.Join(failures(leftovers(before, after, usual)), ", "); got != c.want {
			t.Errorf("%s: found %q, want %q", c.to, got, c.want)
		}
	}
	if got := failures(leftovers(before, atRest{page: before.page, inFlight: 1}, usual)); !slices.Equal(got, []string{"no request left"}) {
		t.Errorf("one in flight: %v", got)
	}
}

// Each way in which the books can be wrong is found.
func TestBalance(t *testing.T) {
	p := readText(t, restPage)
	if got := failures(balance(p, account())); got != nil {
		t.Fatalf("books in order: %v", got)
	}
	for want, spoil := range map[string]func(a *accounts){
		"requests that came = requests that ended":    func(a *accounts) { a.finishes["abort"]-- },
		"sent = answered + rejected + refused + left": func(a *accounts) { a.sent++ },
		"no unexpected ending":                        func(a *accounts) { a.endings[failed]++ },
		"answered as clients saw it":                  func(a *accounts) { a.endings[answered] += 2; a.endings[left] -= 2 },
		"rejected as clients saw it":                  func(a *accounts) { a.endings[rejected]++; a.endings[left]-- },
		"errors are those of wrong requests":          func(a *accounts) { a.finishes["error"]++; a.finishes["abort"]-- },
		"completed in metrics as in records":          func(a *accounts) { a.finishes["stop"]++ },
		"rejected in metrics as in records":           func(a *accounts) { a.finishes["rejected"]++ },
		"something was answered":                      func(a *accounts) { a.endings[left] += a.endings[answered]; a.endings[answered] = 0 },
		"the engine ended those that were sent":       func(a *accounts) { a.sent, a.endings[refused] = a.sent+9, a.endings[refused]+9 },
	} {
		a := account()
		spoil(&a)
		if got := failures(balance(p, a)); !slices.Contains(got, want) {
			t.Errorf("found %v, want %q", got, want)
		}
	}
	broken := readText(t, strings.Replace(restPage, `status="4xx"`, `status="5xx"`, 1))
	if got := failures(balance(broken, account())); !slices.Contains(got, "no 5xx") {
		t.Errorf("5xx: %v", got)
	}
}

func TestPageSince(t *testing.T) {
	p := readText(t, restPage)
	if got := p.since(p).sum("http_requests_total"); got != 0 {
		t.Errorf("grown by %g since itself", got)
	}
	if got := p.sum("http_requests_total", `handler="/v1/`); got != 11 {
		t.Errorf("%g requests, want 11", got)
	}
	if got := p.sum("go_gorou"); got != 0 {
		t.Errorf("a part of a name matches")
	}
}
