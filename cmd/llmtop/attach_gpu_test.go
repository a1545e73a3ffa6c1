package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

func TestDCGMFlag(t *testing.T) {
	for value, ok := range map[string]bool{
		"off": true, "http://node:9400": true, "http://node:9400/metrics": true, "node:9400": true, "ftp://node": false, "http://": false,
	} {
		var a dcgmAddress
		if err := a.Set(value); (err == nil) != ok || ok && a.String() != value {
			t.Errorf("--dcgm %s: %v, %q", value, err, a)
		}
	}
}

// NVML's probe comes first, so that the exporter's readings fill in its own.
func TestGPUProbes(t *testing.T) {
	for dcgm, want := range map[string]string{
		"": "gpu, dcgm http://127.0.0.1:9400, amdgpu", "off": "gpu, amdgpu", "http://node:9400": "gpu, dcgm http://node:9400, amdgpu",
		"http://me:secret@node:9400/metrics?token=secret": "gpu, dcgm http://node:9400, amdgpu", // names are recorded
	} {
		var names []string
		for _, p := range (&attached{}).gpuProbes(attachOptions{dcgm: dcgm, interval: time.Second}) {
			names = append(names, p.Probe.Name())
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("--dcgm %q: probes %s, want %s", dcgm, got, want)
		}
	}
}

// The exporter is asked when some device's activity will not be told by the driver.
func TestWhatTheDriverTells(t *testing.T) {
	sm := func(v probes.Opt[float64]) probes.GPUDevice { return probes.GPUDevice{SMActiveRatio: v} }
	divided := sm(probes.None[float64](probes.Unsupported))
	divided.MIG = true
	seen, waits := sm(probes.Some(0.0)), sm(probes.Opt[float64]{})
	for name, c := range map[string]struct {
		devices []probes.GPUDevice
		want    bool
	}{
		"no device":                   {nil, false},
		"told":                        {[]probes.GPUDevice{seen, seen}, true},
		"not yet":                     {[]probes.GPUDevice{waits}, true},
		"cannot":                      {[]probes.GPUDevice{seen, sm(probes.None[float64](probes.Unsupported))}, false},
		"may not":                     {[]probes.GPUDevice{sm(probes.None[float64](probes.NoPermission))}, false},
		"lost":                        {[]probes.GPUDevice{seen, sm(probes.None[float64](probes.Lost))}, true},
		"divided, its instances tell": {[]probes.GPUDevice{divided, seen}, true},
	} {
		if got := tellsActivity(&probes.GPU{Devices: c.devices}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// It waits for the driver's first answer.
func TestExporterWaitsForTheDriver(t *testing.T) {
	d := &driver{answered: make(chan struct{})}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := d.lacks(ended); err != context.Canceled {
		t.Errorf("before the first answer: %v", err)
	}
	close(d.answered)
	if err := d.lacks(t.Context()); err != nil {
		t.Errorf("a driver that tells nothing: %v", err)
	}
	d.tells.Store(true)
	if err := d.lacks(t.Context()); err != errTold {
		t.Errorf("a driver that tells all: %v", err)
	}
}

// An exporter gets no key, even one that asks for it.
func TestExporterGetsNoKey(t *testing.T) {
	t.Setenv(apiKeyVariable, "sesame")
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "sesame") {
				t.Errorf("%s: %v", name, values)
			}
		}
		if asked++; asked == 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		page, err := os.ReadFile("../../probes/dcgm/testdata/a100.prom")
		if err != nil {
			t.Error(err)
		}
		w.Write(page)
	}))
	defer server.Close()
	o := attachOptions{dcgm: server.URL + "/metrics"}
	if _, err := o.exporter(nil).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "asks for credentials") || probes.IsLacking(err) {
		t.Errorf("an exporter that asks for a key: %v", err)
	}
	section, err := o.exporter(nil).Read(t.Context())
	if g, ok := section.(*probes.GPU); !ok || err != nil || len(g.Devices) != 2 || asked != 2 {
		t.Errorf("section %v, error %v, asked %d times", section, err, asked)
	}
}
