package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"llmtop/engine"
	"llmtop/probes"
)

// startTwin is the script command `twin [FLAG…]`: a simulated engine on a free port, as the
// flags of serve have it; $TWIN is its URL.
func startTwin(ts *testscript.TestScript, _ bool, args []string) {
	cmd := newServeCommand()
	ts.Check(cmd.ParseFlags(args))
	f := twinFlags{gpu: "h100x8", engine: ownPage, model: usualTwinModel, seed: 1}
	if cmd.Flags().Changed("twin-engine") {
		f.engine, _ = cmd.Flags().GetString("twin-engine")
	}
	sc, err := f.scenario(cmd)
	ts.Check(err)
	var c engine.Config
	server := httptest.NewUnstartedServer(nil) // it listens; the twin must know where before it answers
	t, err := simulate(sc, "http://"+server.Listener.Addr().String(), &c)
	ts.Check(err)
	e, err := engine.New(c)
	ts.Check(err)
	t.Serve(e)
	server.Config.Handler = t.Handler(e.Handler())
	server.Start()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go t.Live(ctx)
	go func() { defer close(ended); e.Run(ctx) }()
	ts.Defer(func() { cancel(); server.CloseClientConnections(); server.Close(); <-ended })
	ts.Setenv("TWIN", server.URL)
}

// A process that simulates 8 GPUs answers as an engine does, under the name of its model.
func TestServeTwin(t *testing.T) {
	s := startServe(t, "--log", "off", "--twin", "h100x8", "--twin-model", "llama-3-70b", "--twin-at", "0s gpu3 power_cap 300W")
	r, err := http.Post(s.url+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"why?"}],"max_tokens":8,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err != nil || !strings.Contains(string(answer), "placeholder") || !strings.HasSuffix(string(answer), "data: [DONE]\n\n") {
		t.Errorf("%v, answer %s", err, answer)
	}
	if page := s.page(t, "/metrics"); !strings.Contains(page, `vllm:generation_tokens_total{engine="0",model_name="llama-3-70b"} 8`) {
		t.Errorf("metrics: %s", page)
	}
	var seen struct {
		Simulated string
		GPU       probes.GPU
		Host      probes.Host
	}
	if err := json.Unmarshal([]byte(s.page(t, "/debug/simulated")), &seen); err != nil {
		t.Fatal(err)
	}
	if seen.Simulated == "" || len(seen.GPU.Devices) != 8 || seen.Host.CPUs == 0 {
		t.Errorf("simulated: %+v", seen)
	}
	for i, d := range seen.GPU.Devices {
		want := 700.0
		if i == 3 {
			want = 300
		}
		if got := d.PowerLimitWatts.Or(0); got != want {
			t.Errorf("GPU %d may take %g W, want %g", i, got, want)
		}
	}
}
