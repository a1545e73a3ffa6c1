package rules

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/scrape"
)

// rank is what one engine behind a page has done: tokens and requests since it began.
type rank struct {
	label          string // {engine="0"} …
	tokens, firsts float64
	waiting        float64
	nan            bool
}

// rankPage is a page of vLLM with several ranks, as a scrape.
func rankPage(endpoint string, second float64, ranks ...rank) *probes.Scrape {
	var b strings.Builder
	family := func(name, kind string, line func(rank) string) {
		fmt.Fprintf(&b, "# TYPE %s %s\n", name, kind)
		for _, r := range ranks {
			b.WriteString(line(r))
		}
	}
	number := func(r rank, v float64) string {
		if r.nan {
			return "NaN"
		}
		return fmt.Sprint(v)
	}
	family("vllm:num_requests_running", "gauge", func(r rank) string {
		return fmt.Sprintf("vllm:num_requests_running{%s} %s\n", r.label, number(r, 4))
	})
	family("vllm:num_requests_waiting", "gauge", func(r rank) string {
		return fmt.Sprintf("vllm:num_requests_waiting{%s} %s\n", r.label, number(r, r.waiting))
	})
	family("vllm:generation_tokens_total", "counter", func(r rank) string {
		return fmt.Sprintf("vllm:generation_tokens_total{%s} %s\n", r.label, number(r, r.tokens))
	})
	family("vllm:request_success_total", "counter", func(r rank) string {
		return fmt.Sprintf("vllm:request_success_total{%s,finished_reason=\"stop\"} %s\n", r.label, number(r, r.firsts))
	})
	family("vllm:time_to_first_token_seconds", "histogram", func(r rank) string {
		return fmt.Sprintf("vllm:time_to_first_token_seconds_bucket{%[1]s,le=\"1\"} %[2]s\nvllm:time_to_first_token_seconds_bucket{%[1]s,le=\"+Inf\"} %[2]s\n"+
			"vllm:time_to_first_token_seconds_sum{%[1]s} %[3]s\nvllm:time_to_first_token_seconds_count{%[1]s} %[2]s\n", r.label, number(r, r.firsts), number(r, r.firsts/2))
	})
	s := scrape.Parse([]byte(b.String()))
	s.At, s.Endpoint = at(second), endpoint
	return s
}

// steady is a rank that has long been there and yields 100 tokens and 2 requests a second.
func steady(label string, second float64) rank {
	return rank{label: label, tokens: 1e7 + 100*second, firsts: 1e5 + 2*second}
}

// reborn is the same rank, started anew at a second.
func reborn(label string, since, second float64) rank {
	return rank{label: label, tokens: 100 * (second - since), firsts: 2 * (second - since)}
}

// worstRates plays 40 seconds of scrapes and returns the highest and the lowest of some
// signals once they are known.
func worstRates(t *testing.T, scrapes func(second float64) []*probes.Scrape) (low, high map[string]float64) {
	t.Helper()
	low, high = map[string]float64{}, map[string]float64{}
	w := probes.NewWindow(time.Minute, NewDecoder())
	l := newLedger()
	for i := range 40 {
		n := l.look(w, w.Push(&probes.Sample{Seq: uint64(i + 1), At: at(float64(i)), Mono: time.Duration(i) * time.Second, Interval: time.Second, Scrapes: scrapes(float64(i))}))
		s := compute(n)
		for _, name := range []string{"tokens.out.rate", "requests.rate", "arrivals.rate", "ttft.mean", "queue.slope"} {
			v, ok := s.Get(name).Get()
			if !ok || i < 4 {
				continue
			}
			if old, known := low[name]; !known || v < old {
				low[name] = v
			}
			high[name] = math.Max(high[name], v)
		}
	}
	return low, high
}

// Rates are of what each engine did: one that restarts, comes, goes or tells no number for
// a while makes no burst, and takes at most its own part away.
func TestRatesOfEnginesThatComeAndGo(t *testing.T) {
	const a, b = `engine="0",model_name="m"`, `engine="1",model_name="m"`
	one := func(s ...*probes.Scrape) []*probes.Scrape { return s }
	during := func(x float64) bool { return x >= 15 && x < 18 }
	for _, c := range []struct {
		name    string
		scrapes func(x float64) []*probes.Scrape
		least   float64 // tokens a second
	}{
		{"nothing happens", func(x float64) []*probes.Scrape { return one(rankPage("e", x, steady(a, x), steady(b, x))) }, 199},
		{"one rank restarts", func(x float64) []*probes.Scrape {
			if x < 15 {
				return one(rankPage("e", x, steady(a, x), steady(b, x)))
			}
			return one(rankPage("e", x, steady(a, x), reborn(b, 15, x)))
		}, 100},
		{"both restart", func(x float64) []*probes.Scrape {
			if x < 15 {
				return one(rankPage("e", x, steady(a, x), steady(b, x)))
			}
			return one(rankPage("e", x, reborn(a, 15, x), reborn(b, 15, x)))
		}, 100},
		{"one rank goes", func(x float64) []*probes.Scrape {
			if x < 15 {
				return one(rankPage("e", x, steady(a, x), steady(b, x)))
			}
			return one(rankPage("e", x, steady(a, x)))
		}, 99},
		{"one rank comes, long at work", func(x float64) []*probes.Scrape {
			if x < 15 {
				return one(rankPage("e", x, steady(a, x)))
			}
			return one(rankPage("e", x, steady(a, x), steady(b, x)))
		}, 99},
		{"a third rank comes", func(x float64) []*probes.Scrape {
			if x < 15 {
				return one(rankPage("e", x, steady(a, x), steady(b, x)))
			}
			return one(rankPage("e", x, steady(a, x), steady(b, x), steady(`engine="2",model_name="m"`, x)))
		}, 199},
		{"a third rank goes and comes back", func(x float64) []*probes.Scrape {
			if during(x) {
				return one(rankPage("e", x, steady(a, x), steady(b, x)))
			}
			return one(rankPage("e", x, steady(a, x), steady(b, x), steady(`engine="2",model_name="m"`, x)))
		}, 199},
		{"no number for a while", func(x float64) []*probes.Scrape {
			r := steady(b, x)
			r.nan = during(x)
			return one(rankPage("e", x, steady(a, x), r))
		}, 100},
		{"never a number from one of two", func(x float64) []*probes.Scrape {
			r := steady(b, x)
			r.nan = true
			return one(rankPage("e", x, steady(a, x), r))
		}, 99},
		{"no number for a while, no label engine", func(x float64) []*probes.Scrape {
			r := steady(`model_name="m",lora="x"`, x)
			r.nan = during(x)
			return one(rankPage("e", x, steady(`model_name="m",lora=""`, x), r))
		}, 100},
		{"ranks in another order", func(x float64) []*probes.Scrape {
			if int(x)%2 == 0 {
				return one(rankPage("e", x, steady(b, x), steady(a, x)))
			}
			return one(rankPage("e", x, steady(a, x), steady(b, x)))
		}, 199},
		{"labels in another order", func(x float64) []*probes.Scrape {
			if int(x)%2 == 0 {
				return one(rankPage("e", x, steady(`model_name="m",engine="0"`, x), steady(b, x)))
			}
			return one(rankPage("e", x, steady(a, x), steady(b, x)))
		}, 199},
		{"a replica restarts", func(x float64) []*probes.Scrape {
			if x < 15 {
				return one(rankPage("e", x, steady(a, x)), rankPage("f", x, steady(a, x)))
			}
			return one(rankPage("e", x, steady(a, x)), rankPage("f", x, reborn(a, 15, x)))
		}, 100},
		{"a replica comes", func(x float64) []*probes.Scrape {
			if x < 15 {
				return one(rankPage("e", x, steady(a, x)))
			}
			return one(rankPage("e", x, steady(a, x)), rankPage("f", x, steady(a, x)))
		}, 99},
		{"a replica is away for a while", func(x float64) []*probes.Scrape {
			if during(x) {
				return one(rankPage("e", x, steady(a, x)))
			}
			return one(rankPage("e", x, steady(a, x)), rankPage("f", x, steady(a, x)))
		}, 99},
		{"the same endpoint twice", func(x float64) []*probes.Scrape {
			return one(rankPage("e", x, steady(a, x), steady(b, x)), rankPage("e", x, steady(a, x), steady(b, x)))
		}, 199},
		{"an adapter's series comes", func(x float64) []*probes.Scrape {
			r := []rank{steady(`model_name="m"`, x)}
			if x >= 15 {
				r = append(r, reborn(`model_name="m-lora"`, 15, x))
			}
			return one(rankPage("e", x, r...))
		}, 99},
		{"a rank with a long queue comes", func(x float64) []*probes.Scrape {
			r := []rank{steady(a, x), steady(b, x)}
			if x >= 15 {
				r = append(r, rank{label: `engine="2",model_name="m"`, tokens: 1e7 + 100*x, firsts: 1e5 + 2*x, waiting: 500})
			}
			return one(rankPage("e", x, r...))
		}, 199},
		{"a replica with a long queue comes", func(x float64) []*probes.Scrape {
			out := one(rankPage("e", x, steady(a, x)))
			if x >= 15 {
				out = append(out, rankPage("f", x, rank{label: a, tokens: 1e7 + 100*x, firsts: 1e5 + 2*x, waiting: 500}))
			}
			return out
		}, 99},
	} {
		t.Run(c.name, func(t *testing.T) {
			low, high := worstRates(t, c.scrapes)
			if low["tokens.out.rate"] < c.least*0.85 || high["tokens.out.rate"] > 301 {
				t.Errorf("tokens.out.rate between %g and %g", low["tokens.out.rate"], high["tokens.out.rate"])
			}
			for _, name := range []string{"requests.rate", "arrivals.rate"} {
				if low[name] < c.least/50*0.85 || high[name] > 6.1 {
					t.Errorf("%s between %g and %g", name, low[name], high[name])
				}
			}
			if math.Abs(low["ttft.mean"]-0.5) > 1e-6 || math.Abs(high["ttft.mean"]-0.5) > 1e-6 {
				t.Errorf("ttft.mean between %g and %g", low["ttft.mean"], high["ttft.mean"])
			}
			if low["queue.slope"] != 0 || high["queue.slope"] != 0 {
				t.Errorf("queue.slope between %g and %g", low["queue.slope"], high["queue.slope"])
			}
		})
	}
}

// Another process's seconds are no work of this one: with several engines the process that
// is looked at may be another one's from one sample to the next.
func TestRatesOfAnotherProcess(t *testing.T) {
	mk := func(second float64, pid int, cpu float64) *probes.Sample {
		s := sample(second)
		s.Process = &probes.Process{At: at(second), PID: pid, CPUSecondsTotal: probes.Some(cpu)}
		return s
	}
	s := signalsOf(mk(0, 1, 500), mk(1, 1, 501), mk(2, 2, 90000), mk(3, 2, 90002))
	near(t, s, "process.cpu_cores", 2)
	absent(t, signalsOf(mk(0, 1, 500), mk(1, 1, 501), mk(2, 2, 90000)), "process.cpu_cores", probes.NotSeen)
}
