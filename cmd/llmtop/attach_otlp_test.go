package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes"
	"llmtop/probes/otlp"
)

func TestOTLPFlag(t *testing.T) {
	for typed, want := range map[string]string{
		"127.0.0.1:4318": "", "localhost:4318": "", ":4318": "", "[::1]:4317": "",
		"4318": "must be host:port", "127.0.0.1": "must be host:port", "127.0.0.1:0": "from 1 to 65535", "127.0.0.1:http": "from 1 to 65535", "127.0.0.1:65536": "from 1 to 65535", "": "must be host:port",
	} {
		var o attachOptions
		cmd := &cobra.Command{}
		o.flags(cmd)
		err := cmd.ParseFlags([]string{"--otlp", typed})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && o.otlp != typed {
			t.Errorf("%q: %v, got %q", typed, err, o.otlp)
		}
	}
	for _, name := range []string{"", "diagnose", "record"} {
		cmd, _, err := newRoot().Find(strings.Fields(name))
		if err != nil || cmd.Flags().Lookup("otlp") == nil || cmd.Flags().Lookup("otlp").DefValue != "" {
			t.Errorf("llmtop %s: no --otlp that is off", name)
		}
	}
}

// What is said before the screen starts: a port that is taken, an address that others reach.
func TestOTLPWarns(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for addr, want := range map[string]string{
		"127.0.0.1:0":         "",
		"[::]:0":              "is open to the network: whoever reaches it can send traces",
		taken.Addr().String(): "address already in use; everything else goes on",
	} {
		var said bytes.Buffer
		o := attachOptions{interval: time.Second, otlp: addr, stderr: func() io.Writer { return &said }}
		list := o.otlpProbes(func() []string { return nil })
		if len(list) != 1 || list[0].Every != time.Second {
			t.Fatalf("%s: %v", addr, list)
		}
		list[0].Probe.(io.Closer).Close()
		if got := said.String(); (got == "") != (want == "") || !strings.Contains(got, want) || strings.Count(got, "\n") > 1 {
			t.Errorf("%s: said %q, want %q", addr, got, want)
		}
	}
	var off attachOptions
	if list := off.otlpProbes(nil); list != nil {
		t.Errorf("without the flag: %v", list)
	}
}

// Spans that are sent to the receiver are in the samples of the collector, as the attached engine's.
func TestOTLPReachesTheSample(t *testing.T) {
	o := attachOptions{interval: 100 * time.Millisecond, otlp: "127.0.0.1:0"}
	const engine = "http://127.0.0.1:8000"
	list := o.otlpProbes(func() []string { return []string{engine} })
	collector := probes.NewCollector(o.interval, list...)
	defer collector.Close()
	start := time.Now().Add(-2 * time.Second).UnixNano()
	body := fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"vllm"}}]},"scopeSpans":[{"spans":[{
		"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"llm_request","kind":2,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[
		{"key":"gen_ai.latency.time_in_queue","value":{"doubleValue":0.5}},{"key":"gen_ai.latency.time_to_first_token","value":{"doubleValue":0.9}},
		{"key":"gen_ai.latency.time_in_model_prefill","value":{"doubleValue":0.4}},{"key":"gen_ai.latency.time_in_model_decode","value":{"doubleValue":1}},
		{"key":"gen_ai.latency.e2e","value":{"doubleValue":1.9}},{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"11"}}]}]}]}]}`, start, start+19e8)
	resp, err := http.Post("http://"+list[0].Probe.(*otlp.Probe).Addr()+"/v1/traces", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	for range 50 {
		s, err := collector.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Requests) == 0 {
			continue
		}
		r := s.Requests[0]
		if r.Endpoint != engine || len(r.Finished) != 1 || r.Finished[0].Stages[probes.StageQueue] != 0.5 || s.Probes[0].Name != "otlp 127.0.0.1:0" || s.Probes[0].Err != "" {
			t.Errorf("got %+v, %+v", r, s.Probes[0])
		}
		return
	}
	t.Fatal("no sample has the request")
}
