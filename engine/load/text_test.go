package load

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func sample() Report {
	return Report{
		URL: "http://127.0.0.1:8000", Model: "oncall", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ElapsedSeconds: 60,
		TargetRate: 5, SentRate: 4.9, Sent: 294, Completed: 280, Rejected: 10, TimedOut: 1, Failed: 2, Aborted: 1,
		Errors: []ErrorKind{{"http 503", 2, "no capacity"}},
		TTFT:   &Summary{280, .2, .15, .4, .5, 1.234, 2}, TPOT: &Summary{280, .02, .02, .021, .03, .0312, .05},
		E2E:    &Summary{280, 1, 1, 2, 3, 4, 123.4},
		Output: &Summary{280, 31.4, 30, 50, 55, 60, 61},
		Tokens: TokenThroughput{In: 100, Out: 8792, OutPerSecond: 146.53},
		Client: Client{CPUCores: .05, Cores: 2, Lag: &Summary{P99: .0004}, MaxInFlight: 12},
	}
}

func TestReportText(t *testing.T) {
	want := `http://127.0.0.1:8000, model oncall, 60.00 s
requests   294 sent (4.90/s, asked for 5.00/s), 280 completed, 10 rejected (429), 1 timed out, 2 failed, 1 aborted at the end
tokens     146.5/s out, 8792 out, 100 in

               mean      p50      p90      p95      p99      max
        TTFT  200 ms   150 ms   400 ms   500 ms   1.23 s   2.00 s
        TPOT  20.0 ms  20.0 ms  21.0 ms  30.0 ms  31.2 ms  50.0 ms
         E2E  1.00 s   1.00 s   2.00 s   3.00 s   4.00 s    123 s
   tokens in        -        -        -        -        -        -
  tokens out       31       30       50       55       60       61
     2 × http 503: no capacity
4 unfinished requests are in no latency above
client     not the bottleneck: 0.05 of 2 cores, sends late by 400 µs (p99), at most 12 in flight`
	got := sample().String()
	if squeeze(got) != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	lines := strings.Split(got, "\n")
	for _, l := range lines[5:9] {
		if len([]rune(l)) != len([]rune(lines[4])) {
			t.Errorf("%q and %q are not aligned", l, lines[4])
		}
	}
}

// squeeze makes a text independent of how wide its columns are.
func squeeze(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.Join(lines, "\n")
}

func TestReportJSON(t *testing.T) {
	want := sample()
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s := string(b); !strings.Contains(s, `"ttft_seconds":{"count":280,"mean":0.2,"p50":0.15`) || strings.Contains(s, "prompt_tokens") {
		t.Errorf("%s: want ttft_seconds, and no prompt_tokens, which nobody counted", s)
	}
}

func TestBottleneck(t *testing.T) {
	cases := []struct {
		name string
		c    Client
		want string
	}{
		{"idle", Client{CPUCores: .2, Cores: 2, Lag: &Summary{P99: .004}}, ""},
		{"late, but the server is far slower", Client{Cores: 2, Lag: &Summary{P99: .09}}, ""},
		{"late", Client{Cores: 2, Lag: &Summary{P99: .2}}, "1 in 100 requests left 200 ms late or more, with a TTFT p99 of 1.00 s"},
		{"busy", Client{CPUCores: 1.7, Cores: 2}, "the client used 1.7 of 2 cores"},
		{"capped", Client{Cores: 2, Capped: 5, MaxInFlight: 64}, "5 arrivals were not sent, as 64 requests were in flight"},
	}
	for _, c := range cases {
		if got := strings.Join(bottleneck(c.c, 1), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The model's name is the server's word and reaches the terminal without control bytes.
func TestReportTextIsHarmless(t *testing.T) {
	r := sample()
	r.Model = "\x1b[2J\x07evil\nmodel"
	if s := r.String(); strings.ContainsAny(s, "\x1b\x07") || !strings.Contains(s, "evil model") {
		t.Errorf("%q", s)
	}
}
