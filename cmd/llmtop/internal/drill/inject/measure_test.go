package inject

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/engine/load"
)

var epoch = time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// requests are n that are due a second apart, each as by of its number.
func requests(n int, by func(i int) load.Request) (out []load.Request) {
	for i := range n {
		r := by(i)
		r.Due = at(float64(i))
		out = append(out, r)
	}
	return out
}

func TestMeasure(t *testing.T) {
	all := requests(40, func(i int) load.Request {
		return load.Request{End: "completed", TTFT: 0.1 * float64(1+i%10), TPOT: 0.01, Gap: 0.05, Age: 2}
	})
	w := window{at(2), at(21.5)} // 0 to 19 end in it; 20 and 21 are still out
	for symptom, want := range map[string]float64{
		"ttft.p50": 0.6, "ttft.p95": 1, "tpot.p50": 0.01, "itl.p95": 0.05, "e2e.p50": 2, "client.ttft": 0.55, "client.e2e": 2, "failed": 1,
	} {
		if got, err := measure(symptom, all, w); err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, %v, want %v", symptom, got, err, want)
		}
	}
	for _, symptom := range []string{"ttft.p99", "hunger.p50", "ttft"} {
		if got, err := measure(symptom, all, w); err == nil {
			t.Errorf("%s = %v, want an error", symptom, got)
		}
	}
	if _, err := measure("ttft.p50", all[:5], w); err == nil {
		t.Error("a quantile of five requests")
	}
	for _, s := range drill.Symptoms {
		if _, err := measure(s, all, w); err != nil {
			t.Errorf("%s cannot be measured: %v", s, err)
		}
	}
}

// Requests that hang are felt, though they never end; those that are still young are not.
func TestMeasureCountsHanging(t *testing.T) {
	all := requests(60, func(i int) load.Request {
		if i < 30 {
			return load.Request{End: "completed", TTFT: 0.1, Age: 1}
		}
		return load.Request{End: "aborted", Age: 60 - float64(i)}
	})
	w := window{at(30), at(60)}
	if got, err := measure("e2e.p50", all, w); err != nil || got < 10 {
		t.Errorf("of 30 that hang, up to 30 s: %v, %v", got, err)
	}
	if got, err := measure("e2e.p50", all, window{at(1), at(30)}); err != nil || got != 1 {
		t.Errorf("before: %v, %v", got, err)
	}
}

func TestFailures(t *testing.T) {
	ends := []string{"completed", "rejected", "failed", "completed", "aborted"}
	all := requests(50, func(i int) load.Request { return load.Request{End: ends[i%5]} })
	if got, err := measure("failed", all, window{at(0), at(60)}); err != nil || got != 11 {
		t.Errorf("half failed: %v, %v", got, err)
	}
}

func TestReadRequests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r")
	if got, err := readRequests(file); err != nil || got != nil {
		t.Errorf("a load that was ended at once: %v, %v", got, err)
	}
	for text, want := range map[string]int{
		`{"end":"completed","age":1}` + "\n" + `{"end":"fai`: 1,
		`{"end":"completed"}` + "\n":                         1,
		"":                                                   0,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readRequests(file); err != nil || len(got) != want {
			t.Errorf("%q: %v, %v, want %d", text, got, err, want)
		}
	}
	if err := os.WriteFile(file, []byte("nonsense\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readRequests(file); err == nil || !strings.Contains(err.Error(), ":1:") {
		t.Errorf("nonsense: %v, want the line", err)
	}
}
