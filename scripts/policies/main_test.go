package main

import (
	"encoding/json"
	"testing"
)

func TestRow(t *testing.T) {
	var r result
	report := `{"sent":9,"completed":6,"rejected":1,"timed_out":1,"failed":1,"ttft_seconds":{"p50":0.02,"p95":0.5},
		"tpot_seconds":{"p50":0.003,"p95":0.004},"tokens":{"out_per_second":123.4},"client":{"bottleneck":["late"]}}`
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		t.Fatal(err)
	}
	want := "static\t9\t6\t1\t2\t123.4\t20.0 ms\t500.0 ms\t3.0 ms\t4.0 ms\t-\t-\t"
	if got := row("static", r); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if len(r.Client.Bottleneck) != 1 {
		t.Errorf("client %+v", r.Client)
	}
}
