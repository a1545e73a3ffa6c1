package simulated

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

var t0 = time.Date(2027, 3, 4, 5, 6, 7, 123456000, time.UTC)

func page(body string) *probes.Page {
	return &probes.Page{URL: "http://gpu-7:8000/debug/simulated", Body: []byte(body)}
}

// What a twin writes comes back as it was, reasons of missing readings and all.
func TestDecode(t *testing.T) {
	want := &Section{
		Simulated: "h100x8, llama-3-70b",
		GPU: &probes.GPU{At: t0, Driver: "570.86", Devices: []probes.GPUDevice{{
			At: t0, UUID: "GPU-1", Name: "NVIDIA H100 80GB HBM3", PowerWatts: probes.Some(612.5), SMActiveRatio: probes.None[float64](probes.Unsupported),
			ThrottleBits: probes.Some(probes.ThrottlePowerCap),
		}}},
		Host:    &probes.Host{At: t0, CPUs: 96, CPUBusySecondsTotal: probes.Some(12.5)},
		Process: &probes.Process{At: t0, PID: 4711},
		Sockets: &probes.Sockets{At: t0, Connections: probes.Some(3.0)},
	}
	body, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(page(string(body)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	real := &probes.Neighbours{At: t0}
	s := probes.Sample{Host: &probes.Host{CPUs: 2}, Neighbours: real}
	got.AddTo(&s)
	if !s.Simulated || s.GPU != got.GPU || s.Host != got.Host || s.Process != got.Process || s.Sockets != got.Sockets || s.Neighbours != real {
		t.Errorf("sample %+v", s)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"HTML", "<html>", "found HTML"},
		{"empty", "", "found an empty page"},
		{"other JSON", `{"detail":"hello"}`, "found JSON that says nothing of it"},
		{"cut off", `{"simulated":"x","gpu":{`, "unexpected end of JSON input"},
		{"more after it", `{"simulated":"x"} {}`, "invalid character"},
		{"a word for a number", `{"simulated":"x","host":{"cpus":"many"}}`, "cannot unmarshal string"},
		{"a number for a section", `{"simulated":"x","gpu":7}`, "cannot unmarshal number"},
		{"endless numbers", `{"simulated":"x","host":{"load1":1e999}}`, "cannot unmarshal number"},
		{"deep", strings.Repeat("[", 100000), "exceeded max depth"},
	} {
		_, err := decode(page(c.body))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestDecodeIsCleanAndBounded(t *testing.T) {
	many := strings.Repeat(`{"name":"x"},`, 2*maxList)
	s, err := decode(page(`{"simulated":"a\u001b[2Jb","gpu":{"at":"2027-03-04T06:06:07.1234567+01:00","devices":[{"name":"\u001b]0;evil\u0007` +
		strings.Repeat("y", 1000) + `"}]},"host":{"disks":[` + many[:len(many)-1] + `]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Simulated != "a[2Jb" || s.GPU.At != t0 || len(s.Host.Disks) != maxList {
		t.Errorf("%q, %s, %d disks", s.Simulated, s.GPU.At, len(s.Host.Disks))
	}
	if name := s.GPU.Devices[0].Name; strings.ContainsAny(name, "\x1b\x07") || len(name) > maxText+len("…") {
		t.Errorf("name %q", name)
	}
}

// Numbers that no reading has are none.
func TestDecodeBoundsNumbers(t *testing.T) {
	s, err := decode(page(`{"simulated":"x","host":{"load1":1e308,"memory_total_bytes":1e12},"sockets":{"full":[{"send_queue_bytes":-1e300}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Host.Load1.Seen() || s.Host.MemoryTotalBytes.Or(0) != 1e12 || s.Sockets.Full[0].SendQueueBytes != 0 {
		t.Errorf("%+v, %+v", s.Host, s.Sockets)
	}
}

// An engine that says that it is simulated and cannot be read is an error, whoever has been there before.
func TestReadUnfit(t *testing.T) {
	p := New("http://gpu-7:8000", Options{Transport: &within{Handler: answering(200, `{"simulated":"x","host":{"cpus":"many"}}`)}})
	for range 2 {
		if section, err := p.Read(context.Background()); section != nil || err == nil || !strings.Contains(err.Error(), "cannot unmarshal string") {
			t.Errorf("%v, %v", section, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"simulated":"x","gpu":{"devices":[{"name":"\u001b","power_watts":{"absent":"lost"}}]},"process":{"pid":-1}}`)
	f.Fuzz(func(t *testing.T, body string) {
		s, err := decode(page(body))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("unfit error %q", err)
			}
			return
		}
		s.AddTo(&probes.Sample{})
		if strings.ContainsAny(s.Simulated, "\n\x1b") {
			t.Fatalf("unclean %q", s.Simulated)
		}
	})
}

// within answers requests in process, so that time may be the test's own.
type within struct {
	http.Handler
	asked atomic.Int64
}

func (h *within) RoundTrip(r *http.Request) (*http.Response, error) {
	h.asked.Add(1)
	if h.Handler == nil {
		return nil, fmt.Errorf("connection refused")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func answering(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name      string
		handler   http.Handler
		simulated bool
		asked     int64 // in 60 reads, one a second
	}{
		{"a twin", answering(200, `{"simulated":"h100x8","host":{"cpus":96}}`), true, 60},
		{"no such page", answering(404, ""), false, 2},
		{"an engine whose every page is 200", answering(200, "<html>"), false, 2},
		{"nobody", nil, false, 60},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &within{Handler: c.handler}
			p := New("http://gpu-7:8000", Options{Transport: h})
			for range 60 {
				section, err := p.Read(context.Background())
				if err != nil || (section != nil) != c.simulated {
					t.Fatalf("%s: %v, %v", c.name, section, err)
				}
				time.Sleep(time.Second)
			}
			if <-p.Asked(); p.Simulated() != c.simulated || h.asked.Load() != c.asked {
				t.Errorf("%s: simulated %t, asked %d times", c.name, p.Simulated(), h.asked.Load())
			}
			if h.Handler = nil; c.simulated {
				if section, err := p.Read(context.Background()); err == nil || section != nil || !p.Simulated() {
					t.Errorf("a twin that has gone: %v, %v", section, err)
				}
				h.Handler = answering(404, "")
				section, err := p.Read(context.Background())
				if err != nil || p.Simulated() {
					t.Fatalf("another engine in its place: %v", err)
				}
				var s probes.Sample
				if section.AddTo(&s); s.Simulated || s.Host != nil {
					t.Errorf("another engine in its place: %+v", s)
				}
			}
		})
	}
	if section, err := New("://", Options{}).Read(context.Background()); section != nil || err != nil {
		t.Errorf("no address: %v, %v", section, err)
	}
}

// Times are put on our clock, by an offset that stays as it is while answers take a little
// more or less; what has no time, or one that cannot be, was read now.
func TestClocks(t *testing.T) {
	for _, c := range []struct {
		name  string
		ahead time.Duration // of the engine's clock
	}{{"the same", -20 * time.Millisecond}, {"ahead", time.Hour}, {"behind", -3 * time.Minute}} {
		var skew time.Duration
		var last time.Time
		for i := range 5 {
			now := t0.Add(time.Duration(i)*time.Second + time.Duration(i%2)*80*time.Millisecond)
			theirs := t0.Add(time.Duration(i)*time.Second + c.ahead)
			s := &Section{GPU: &probes.GPU{At: theirs, Devices: []probes.GPUDevice{{At: theirs}}}, Host: &probes.Host{At: theirs, BootedAt: theirs.Add(-time.Hour)}}
			skew = s.onClock(skew, now)
			if off := now.Sub(s.GPU.At); off < 0 || off > 200*time.Millisecond || !s.GPU.At.Equal(s.Host.At) || !s.GPU.At.Equal(s.GPU.Devices[0].At) {
				t.Errorf("%s: GPUs at %s, host at %s, now %s", c.name, s.GPU.At, s.Host.At, now)
			}
			if up := s.Host.At.Sub(s.Host.BootedAt); up != time.Hour {
				t.Errorf("%s: up for %s", c.name, up)
			}
			if i > 0 && s.Host.At.Sub(last) != time.Second {
				t.Errorf("%s: a second is %s", c.name, s.Host.At.Sub(last))
			}
			last = s.Host.At
		}
	}
	for _, at := range []time.Time{{}, t0.AddDate(7000, 0, 0), t0.AddDate(-1000, 0, 0)} {
		s := &Section{GPU: &probes.GPU{At: at, Devices: make([]probes.GPUDevice, 1)}, Host: &probes.Host{At: at}, Sockets: &probes.Sockets{}}
		s.onClock(0, t0)
		for _, got := range []time.Time{s.GPU.At, s.GPU.Devices[0].At, s.Sockets.At} {
			if got.After(t0) || got.IsZero() {
				t.Errorf("%s became %s", at, got)
			}
		}
	}
}

func TestSectionNamesItsEngine(t *testing.T) {
	p := New("http://gpu-7:8000", Options{Transport: &within{Handler: answering(200, `{"simulated":"h100x8"}`)}})
	section, err := p.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s := probes.Sample{SimulatedEngines: []string{"http://gpu-6:8000"}}
	if section.AddTo(&s); !reflect.DeepEqual(s.SimulatedEngines, []string{"http://gpu-6:8000", "http://gpu-7:8000"}) {
		t.Errorf("simulated: %v", s.SimulatedEngines)
	}
}
