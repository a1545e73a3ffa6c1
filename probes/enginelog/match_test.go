package enginelog

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"llmtop/probes"
)

func wantNumbers(t *testing.T, got []probes.LogNumber, want map[string]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, n := range got {
		if d := n.Value - want[n.Name]; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s = %g, want %g", n.Name, n.Value, want[n.Name])
		}
	}
}

// TestRows holds the table against the lists of package probes and against its own examples.
func TestRows(t *testing.T) {
	m := newMatcher(rows())
	kinds := map[string]bool{}
	for i := range m.rows {
		r := &m.rows[i]
		kinds[r.kind] = true
		if !slices.Contains(probes.LogKinds, r.kind) || r.dialect != "" && !slices.Contains(probes.Dialects, r.dialect) {
			t.Errorf("%s: kind %q of dialect %q is not listed", r.source, r.kind, r.dialect)
		}
		for _, g := range r.groups {
			if !slices.Contains(probes.LogNumberNames, g.name) {
				t.Errorf("%s: number %q is not listed", r.example, g.name)
			}
		}
		if len(r.literal) < 8 || r.source == "" || !strings.Contains(r.example, r.literal) {
			t.Errorf("%q: a literal of 8 bytes, in the example, and a source", r.example)
		}
		got, numbers := m.match([]byte(r.example))
		switch {
		case got == nil:
			t.Errorf("not known: %s (body %q)", r.example, body([]byte(r.example)))
		case got != r:
			t.Errorf("%s\n is of %s %s, want %s", r.example, got.dialect, got.kind, r.kind)
		case len(numbers) != len(r.groups):
			t.Errorf("%s\n tells %v, want %v", r.example, numbers, r.groups)
		}
	}
	for _, kind := range probes.LogKinds {
		if !kinds[kind] {
			t.Errorf("no row of kind %s", kind)
		}
	}
}

// TestNumbers reads one line of each sort of unit and of each generation.
func TestNumbers(t *testing.T) {
	m := newMatcher(rows())
	for _, c := range []struct {
		line, kind string
		want       map[string]float64
	}{
		{"INFO 07-28 06:40:59 [loggers.py:118] Engine 001: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 239.2 tokens/s, Running: 8 reqs, Waiting: 2 reqs, GPU KV cache usage: 91.2%, Prefix cache hit rate: 0.0%",
			"throughput", map[string]float64{"rank": 1, "prompt_tokens_per_second": 0, "generation_tokens_per_second": 239.2, "running": 8, "waiting": 2, "kv_usage_ratio": 0.912}},
		{"INFO 02-03 13:14:04 llm_engine.py:706] Avg prompt throughput: 10.5 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 1 reqs, Swapped: 0 reqs, Pending: 4 reqs, GPU KV cache usage: 0.5%, CPU KV cache usage: 0.0%",
			"throughput", map[string]float64{"prompt_tokens_per_second": 10.5, "generation_tokens_per_second": 0, "running": 1, "waiting": 4, "kv_usage_ratio": 0.005}},
		{"[2026-11-30 04:05:06 TP0] Decode batch, #running-req: 4, #full token: 2642688, full token usage: 1.00, #swa token: 14592, swa token usage: 0.06, cuda graph: True, gen throughput (token/s): 429.34, #queue-req: 3",
			"throughput", map[string]float64{"running": 4, "kv_usage_ratio": 1, "generation_tokens_per_second": 429.34, "waiting": 3}},
		{"[2025-02-09 11:06:40 TP0] Prefill batch. #new-seq: 2, #new-token: 632, #cached-token: 126, cache hit rate: 80.75%, token usage: 0.10, #running-req: 5, #queue-req: 7",
			"throughput", map[string]float64{"tokens": 632, "kv_usage_ratio": 0.1, "running": 5, "waiting": 7}},
		{"[2026-05-27 03:36:40] Capture piecewise CUDA graph end. Time elapsed: 176.50 s. mem usage=5.00 GB. avail mem=31.50 GB.",
			"graph-capture", map[string]float64{"seconds": 176.5, "bytes": 5 * gib, "free_bytes": 31.5 * gib}},
		{"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU 6 has a total capacity of 44.53 GiB of which 448.00 KiB is free.",
			"oom", map[string]float64{"bytes": 2 << 20, "free_bytes": 448 << 10}},
		{"update_slots : failed to find free space in the KV cache, retrying with smaller n_batch = 256", "kv-pool-full", map[string]float64{"tokens": 256}},
		{"print_timings:        eval time =     726.26 ms /    17 runs   (   42.72 ms per token,    23.41 tokens per second)",
			"throughput", map[string]float64{"tokens": 17, "generation_tokens_per_second": 23.41}},
		{"slot 0: context shift - n_keep = 0, n_left = 6858, n_discard = 3429", "context-shift", map[string]float64{"tokens": 3429}},
		{"[2025-03-09 00:57:15 TP4] Watchdog timeout (self.watchdog_timeout=300)", "stalled", map[string]float64{"seconds": 300}},
		{"(EngineCore_DP0 pid=4) INFO 12-22 21:44:40 [core.py:349] Iteration(516): 0 context requests, 0 context tokens, 20 generation requests, 20 generation tokens, iteration elapsed time: 10.95 ms", "", nil},
		// Numbers that cannot be what they stand for are left out, the line counts.
		{"NVRM: Xid (PCI:0000:5e:00): 9999, x", "xid", map[string]float64{"xid": 9999}},
		{"INFO 11-30 04:05:06 [x.py:1] Engine 000: Avg prompt throughput: 1.2.3 tokens/s, Avg generation throughput: 9999999999999999999 tokens/s, Running: 1 reqs, Waiting: 2 reqs, GPU KV cache usage: 900.0%, x",
			"throughput", map[string]float64{"rank": 0, "running": 1, "waiting": 2}},
	} {
		r, numbers := m.match([]byte(c.line))
		kind := ""
		if r != nil {
			kind = r.kind
		}
		if kind != c.kind {
			t.Errorf("%s\n is of kind %q, want %q (body %q)", c.line, kind, c.kind, body([]byte(c.line)))
			continue
		}
		wantNumbers(t, numbers, c.want)
	}
}

// TestWrappings reads one message as log drivers, loggers and terminals wrap it.
func TestWrappings(t *testing.T) {
	const message = "KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_token_ratio: 0.1 -> 0.2"
	m := newMatcher(rows())
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	inner := `{"timestamp":"2026-11-30T04:05:06Z","level":"INFO","fields":{"message":` + quoted(message) + `},"target":"x"}`
	for name, line := range map[string]string{
		"bare": message, "CRLF": message + "\r", "SGLang": "[2026-11-30 04:05:06 DP1 TP0] " + message,
		"docker -t": "2026-11-30T04:05:06.123456789Z [2026-11-30 04:05:06 TP0] " + message,
		"CRI":       "2026-11-30T04:05:06.123456789+01:00 stderr F [2026-11-30 04:05:06] " + message,
		"syslog":    "Nov 30 04:05:06 gpu-host sglang[4711]: [2026-11-30 04:05:06 TP0] " + message,
		"compose":   "sglang-1  | [2026-11-30 04:05:06 TP0] " + message,
		"colours":   "\x1b[32m[2026-11-30 04:05:06 TP0]\x1b[0m \x1b[1m" + message + "\x1b[0m",
		"json-file": `{"log":` + quoted("[2026-11-30 04:05:06 TP0] "+message+"\n") + `,"stream":"stderr","time":"2026-11-30T04:05:06Z"}`,
		"message":   `{"level":"info","message":` + quoted(message) + `}`, "msg": `{"msg":` + quoted(message) + `}`,
		"fields": inner, "JSON in JSON": `{"log":` + quoted(inner+"\n") + `,"stream":"stdout"}`,
		"progress bar": "Capturing batches:  50%|█████     | 1/2 [00:01<00:01]\rCapturing batches: 100%|\r[2026-11-30 04:05:06 TP0] " + message,
		"bad UTF-8":    "[2026-11-30 04:05:06 TP0] " + message + " \xff\xfe\x00",
	} {
		r, numbers := m.match([]byte(line))
		if r == nil || r.kind != "kv-pool-full" {
			t.Errorf("%s: not known, body %q", name, body([]byte(line)))
			continue
		}
		wantNumbers(t, numbers, map[string]float64{"retracted_requests": 2})
	}
}

// TestTextInALineIsNoLine: what somebody writes into a prompt counts nothing.
func TestTextInALineIsNoLine(t *testing.T) {
	m := newMatcher(rows())
	for i := range m.rows {
		message := string(body([]byte(m.rows[i].example)))
		for _, line := range []string{
			"INFO 11-30 04:05:06 [logger.py:39] Received request cmpl-1: prompt: '" + message + "', params: SamplingParams(n=1)",
			"[2026-11-30 04:05:06] Receive: obj=GenerateReqInput(text='" + message + "')",
			`{"level":"info","prompt":"` + message + `"}`, `{"log":{"message":"` + message + `"}}`,
			"You said: " + message + " x",
		} {
			if r, _ := m.match([]byte(line)); r != nil {
				t.Errorf("%s\n is taken for %s %s", line, r.dialect, r.kind)
			}
		}
	}
}

// TestFilterFindsWhatContainsFinds compares the filter with the plain search.
func TestFilterFindsWhatContainsFinds(t *testing.T) {
	m := newMatcher(rows())
	for i := range m.rows {
		line := []byte("x" + m.rows[i].example + m.rows[(i+7)%len(m.rows)].literal)
		checkFilter(t, m, line)
	}
}

func checkFilter(t *testing.T, m *matcher, line []byte) {
	t.Helper()
	found := map[string]bool{}
	for l, at := m.filter.next(line, 0); l >= 0; l, at = m.filter.next(line, at) {
		found[string(m.filter.literals[l])] = true
	}
	for _, l := range m.filter.literals {
		alone := true // of those that begin at the same byte the longest is told
		for other := range found {
			alone = alone && !strings.HasPrefix(other, string(l))
		}
		if strings.Contains(string(line), string(l)) != found[string(l)] && alone {
			t.Errorf("%q in %q: found %t", l, line, found[string(l)])
		}
	}
}

var plainNumber = regexp.MustCompile(`^[a-z_]+$`)

// FuzzMatch: any line is of a listed kind with listed numbers, or of none.
func FuzzMatch(f *testing.F) {
	m := newMatcher(rows())
	for i := range m.rows {
		f.Add([]byte(m.rows[i].example))
		f.Add([]byte(`{"log":"` + m.rows[i].literal + `\n"}`))
	}
	f.Add([]byte("\x1b[31m{\"log\":\"\\u0000\"}\r\r\x00"))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, numbers := m.match(line)
		if r == nil && numbers != nil {
			t.Errorf("numbers %v of no line", numbers)
		}
		for _, n := range numbers {
			if !plainNumber.MatchString(n.Name) || !slices.Contains(probes.LogNumberNames, n.Name) || !(n.Value >= 0 && n.Value <= 1e15) {
				t.Errorf("number %v", n)
			}
		}
		if len(line) < 1000 {
			checkFilter(t, m, line)
		}
	})
}
