package record

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// marker is in every text that the tests plant; nothing of it may be in a redacted file.
const marker = "PLANTED"

// plant fills every text that can be reached from v, each with its own marker, and makes
// one element of each list and section on the way.
func plant(v reflect.Value, path string, found func(field string)) {
	switch t := v.Type(); {
	case t == timeType || t == optFloatType || t == optUintType:
	case t.Kind() == reflect.String:
		v.SetString(marker + "-" + path)
		found(path)
	case t == bytesType:
		v.SetBytes([]byte(marker + " bytes of " + path))
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				plant(v.Field(i), t.Name()+"."+f.Name, found)
			}
		}
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		plant(v.Elem(), path, found)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Float64 && t.Elem().Kind() != reflect.Uint8:
		v.Set(reflect.MakeSlice(t, 1, 1))
		plant(v.Index(0), path, found)
	case t.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(t))
		text := reflect.ValueOf(marker + "-" + path)
		v.SetMapIndex(text, text)
		v.SetMapIndex(reflect.ValueOf("go"), text)
	}
}

// planted is one of everything a recording can hold, full of markers.
func planted(found func(string)) (s *probes.Sample, f Finding, m Mark, g Gap, manifest Manifest) {
	s = new(probes.Sample)
	for _, p := range []any{s, &f, &m, &g, &manifest} {
		plant(reflect.ValueOf(p).Elem(), "", found)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.At, s.Seq, s.Interval = now, 1, time.Second
	f.At, m.At, g.From, g.To = now, now, now, now
	f.Detail = []byte(`{"text":"` + marker + `"}`)
	s.Scrapes[0].Values = []float64{1}
	return s, f, m, g, manifest
}

// decided are texts that have no row in fieldRules, and who decides on them.
var decided = map[string]string{
	"Series.Family": "seriesRule", "Series.Name": "seriesRule", "Label.Name": "labelRule", "Label.Value": "valueRules",
	"Manifest.Command": "dropped", "Manifest.Facts": "facts",
}

// TestEveryTextIsClassified fails for a new text until somebody decides what it is.
func TestEveryTextIsClassified(t *testing.T) {
	n := 0
	planted(func(field string) {
		n++
		if _, ok := fieldRules[field]; !ok && decided[field] == "" {
			t.Errorf("%s may hold anything: give it a row in fieldRules", field)
		}
	})
	if n < 25 {
		t.Errorf("only %d texts found: the walk is broken", n)
	}
}

// everything is the text of all records of a recording, unpacked. A frame's text begins at
// any bit, so frames are there at each of the eight shifts.
func everything(t *testing.T, path string) string {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v := r.last().volume
	var b strings.Builder
	previous := noFrame
	for offset := int64(0); offset < v.end; {
		found, err := v.find(offset, v.end)
		if err != nil {
			t.Fatal(err)
		}
		offset = found.next()
		body := found.payload
		switch found.kind {
		case typeFrame, typeSchema, typeBlob:
			c := cursor{b: found.payload}
			if found.kind != typeFrame {
				c.uvarint()
			} else if previous, err = c.prefix(previous); err != nil {
				t.Fatal(err)
			}
			body = c.b
		}
		if found.flags&flagZstd != 0 {
			if body, err = newUnpacker().unpack(body, found.flags); err != nil {
				t.Fatal(err)
			}
		}
		b.Write(body)
		b.WriteByte('\n')
		for shift := 1; shift < 8 && found.kind == typeFrame; shift++ {
			b.Write(shifted(body, shift))
		}
	}
	return b.String()
}

// shifted is the bits of b from the given one on, low bits first.
func shifted(b []byte, by int) []byte {
	out := bytes.Clone(b)
	for i := range out {
		out[i] >>= by
		if i+1 < len(b) {
			out[i] |= b[i+1] << (8 - by)
		}
	}
	return out
}

// plantedFile is a recording with every marker in it, and what stands in plausible places.
func plantedFile(t *testing.T) string {
	t.Helper()
	s, f, m, g, manifest := planted(func(string) {})
	series := func(name string, labels ...probes.Label) probes.Series {
		return probes.Series{Family: name, Name: name, Type: probes.Gauge, Labels: labels}
	}
	var labels []probes.Label
	for _, name := range slices.Sorted(maps.Keys(ruleByLabel)) {
		labels = append(labels, probes.Label{Name: name, Value: marker + " in " + name})
	}
	for _, name := range slices.Sorted(maps.Keys(wordsByLabel)) {
		labels = append(labels, probes.Label{Name: name, Value: marker + " in " + name})
	}
	s.Scrapes[0].Schema.Series = append(s.Scrapes[0].Schema.Series, series("vllm:num_requests_running", labels...),
		series("http_requests_total", probes.Label{Name: "handler", Value: "/" + marker}))
	s.Scrapes[0].Values = []float64{1, 2, 3}
	second := *s.Scrapes[0]
	second.Endpoint = "https://" + marker + ".example.com:8443/" + marker + "?k=" + marker
	s.Scrapes = append(s.Scrapes, &second)
	s.Requests = append(s.Requests, &probes.Requests{At: s.At, Endpoint: "http://127.0.0.1:8000/" + marker})
	s.Probes = append(s.Probes, probes.ProbeStatus{Name: "scrape http://" + marker + ":80/metrics"}, probes.ProbeStatus{Name: "gpu " + marker})
	path := filepath.Join(t.TempDir(), "planted.llmrec")
	c, err := NewCopy(path, manifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Entry{{Gap: &g}, {Sample: s}, {Finding: &f}, {Mark: &m}} {
		if err := c.Add(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return path
}

func redacted(t *testing.T, path string, o RedactOptions) (string, []Tally) {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := filepath.Join(t.TempDir(), "redacted.llmrec")
	copied, tallies, err := Redact(t.Context(), r, out, o)
	if err != nil {
		t.Fatal(err)
	}
	if copied.Samples != r.Len() {
		t.Errorf("%d of %d samples in the copy", copied.Samples, r.Len())
	}
	return out, tallies
}

// TestRedactionLeavesNoText plants a marker in every text there is.
func TestRedactionLeavesNoText(t *testing.T) {
	path := plantedFile(t)
	if n := strings.Count(everything(t, path), marker); n < 40 {
		t.Fatalf("only %d markers in the original: the search is broken", n)
	}
	for _, drop := range []bool{false, true} {
		out, tallies := redacted(t, path, RedactOptions{Drop: drop})
		text := everything(t, out)
		if i := strings.Index(strings.ToLower(text), strings.ToLower(marker)); i >= 0 {
			t.Errorf("drop %v: %q is left", drop, text[max(0, i-40):min(len(text), i+60)])
		}
		for _, tally := range tallies {
			if drop && tally.Done == "hashed" {
				t.Errorf("hashed in spite of --drop: %v", tally)
			}
		}
		if len(tallies) < 15 {
			t.Errorf("only %d lines of summary: %v", len(tallies), tallies)
		}
	}
}

// TestRedactionKeepsWhatIsAsked holds each option against what it lets through.
func TestRedactionKeepsWhatIsAsked(t *testing.T) {
	path := plantedFile(t)
	for name, c := range map[string]struct {
		o    RedactOptions
		want []string
	}{
		"model":    {RedactOptions{KeepModel: true}, []string{marker + " in model_name", marker + " in model", marker + " in served_model_name"}},
		"marks":    {RedactOptions{KeepMarks: true}, []string{marker + "-Mark.Text"}},
		"profiles": {RedactOptions{KeepProfiles: true}, []string{marker + " bytes of Profile.Raw"}},
		"causes":   {RedactOptions{Cause: func(id string) bool { return id == marker+"-Finding.Cause" }}, []string{marker + "-Finding.Cause"}},
	} {
		out, _ := redacted(t, path, c.o)
		text := everything(t, out)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is gone", name, want)
			}
			text = strings.ReplaceAll(text, want, "")
		}
		if strings.Contains(text, marker) {
			t.Errorf("%s: more is left than was asked", name)
		}
	}
}

// TestRedactionKeepsNumbers: what is not text stays bit for bit, sections that were shared
// stay shared, and equal names stay equal, within the copy only.
func TestRedactionKeepsNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.llmrec")
	c, err := NewCopy(path, Manifest{Host: "gpu-host-17", Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	samples := newSmall().rich(40)
	for i, s := range samples {
		if i%3 == 2 {
			s.GPU = samples[i-1].GPU
		}
		if err := c.Add(t.Context(), Entry{Sample: s}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, _ := redacted(t, path, RedactOptions{})
	again, _ := redacted(t, path, RedactOptions{})
	r, err := Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	hashes := map[string]string{}
	for i, s := range samples {
		got, err := r.At(i)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Host, s.Host) || !got.At.Equal(s.At) || got.Seq != s.Seq {
			t.Fatalf("sample %d: %+v, want %+v", i, got.Host, s.Host)
		}
		if fmt.Sprint(got.Scrapes[0].Values) != fmt.Sprint(s.Scrapes[0].Values) {
			t.Fatalf("sample %d: other values", i)
		}
		for j, d := range s.GPU.Devices {
			h := got.GPU.Devices[j].UUID
			if old, ok := hashes[d.UUID]; ok && old != h || h == d.UUID {
				t.Fatalf("%s became %s and %s", d.UUID, old, h)
			}
			hashes[d.UUID] = h
		}
		if before := max(0, i-1); i%3 == 2 {
			if b, _ := r.At(before); b.GPU != got.GPU {
				t.Fatalf("sample %d: a shared section is no longer shared", i)
			}
		}
	}
	if other := everything(t, again); strings.Contains(other, hashes[samples[0].GPU.Devices[0].UUID]) {
		t.Error("two calls give the same hashes")
	}
}

func TestHarmlessShapes(t *testing.T) {
	for s, want := range map[string]bool{
		"NVIDIA H100 80GB HBM3": true, "NVIDIA GeForce RTX 4090": true, "Tesla V100-SXM2-16GB": true, "NVIDIA A100-SXM4-80GB MIG 1g.5gb": true,
		"NVIDIA H100 of Acme": false, "acme-gpu": false,
	} {
		if got := isGPUModel(s); got != want {
			t.Errorf("isGPUModel(%q) = %v", s, got)
		}
	}
	for name, want := range map[string]bool{
		"vllm:num_requests_running": true, "DCGM_FI_DEV_POWER_USAGE": true, "http_requests_total": true, "http_request_duration_highr_seconds": true,
		"process_resident_memory_bytes": true, "process_start_time_seconds": true, "go_memstats_alloc_bytes_total": true, "go_goroutines": true,
		"python_gc_objects_collected_total": true, "promhttp_metric_handler_requests_total": true,
		"http_acme_checkout_requests_total": false, "process_acme_jobs": false, "go_acme_build": false, "python_acme": false, "promhttp_acme": false, "acme_total": false,
	} {
		if got := commonSeries.MatchString(name); got != want {
			t.Errorf("the name %s is common: %v", name, got)
		}
	}
	x := newRedactor(RedactOptions{})
	for in, want := range map[string]string{
		"http://127.0.0.1:8000/metrics":                     "http://127.0.0.1:8000/metrics",
		"http://[::1]:8000/metrics":                         "http://[::1]:8000/metrics",
		"https://gpu17.acme.com:1/x/y":                      "https://host-" + x.digest("gpu17.acme.com", 8) + ":1/" + x.digest("/x/y", 8),
		"http://10.1.2.3/metrics":                           "http://host-" + x.digest("10.1.2.3", 8) + "/metrics",
		"http://127.0.0.1:8000/v1/metrics#netns=4026532281": "http://127.0.0.1:8000/v1/metrics#netns=4026532281",
		"http://127.0.0.1:8000#pid=4242":                    "http://127.0.0.1:8000#pid=4242",
		"http://127.0.0.1:8000#acme":                        "http://127.0.0.1:8000",
		"unix:/run/acme/vllm.sock":                          "http://host-" + x.digest("unix:/run/acme/vllm.sock", 8),
		"not a url":                                         "http://host-" + x.digest("not a url", 8),
	} {
		if got := x.endpoint(in); got != want {
			t.Errorf("endpoint(%q) = %q, want %q", in, got, want)
		}
	}
}
