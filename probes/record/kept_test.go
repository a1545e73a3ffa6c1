package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"llmtop/probes"
)

var update = flag.Bool("update", false, "write testdata/recordings anew")

const (
	keptPath = "../../testdata/recordings/v1-small.llmrec"
	keptText = "../../testdata/recordings/v1-small.txt"
)

// asText is all of a sample in one line; it does not change when fields are added that stay empty.
func asText(t *testing.T, s *probes.Sample) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range s.Scrapes {
		b = fmt.Appendf(b, " %s %s %g %d", sc.At.Format(time.RFC3339Nano), sc.Endpoint, sc.Seconds, sc.Dropped)
		for i, v := range sc.Values {
			b = fmt.Appendf(b, " %s=%x", sc.Schema.Series[i].Key(), math.Float64bits(v))
		}
	}
	return string(b)
}

// keep writes the recording that every later reader must read. Its values are invented.
func keep(t *testing.T) {
	t.Helper()
	os.Remove(keptPath)
	w, err := Create(keptPath, Manifest{
		Version: "0.1", Created: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Interval: time.Second,
		Host: "synthetic", OS: "linux", CPU: "synthetic", CPUs: 128, Facts: map[string]string{"model": "synthetic/model-70b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range newSmall().rich(60) {
		var f *Finding
		if i == 30 {
			f = &Finding{At: s.At, State: "degraded", Cause: "queue-backlog", Line: "TTFT is up: requests wait for a slot"}
		}
		if err := w.Write(s, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Mark(time.Date(2026, 3, 1, 0, 1, 0, 0, time.UTC), "load doubled"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTheFirstFormatIsReadForEver reads a file that version 1.0 wrote. When it fails,
// the reader is wrong, never the file: write a new one beside it for a new format.
func TestTheFirstFormatIsReadForEver(t *testing.T) {
	if *update {
		keep(t)
	}
	r := open(t, keptPath)
	i := r.Info()
	if i.Samples != 60 || i.Damaged != 0 || i.Unknown != 0 || !i.CleanClose || i.Findings != 1 || len(i.Marks) != 1 || len(i.Gaps) != 0 {
		t.Errorf("info %+v", i)
	}
	if i.Bytes > 60_000 || i.Manifest.Format != "1.0" || i.Manifest.CPUs != 128 || len(i.Engines) != 1 {
		t.Errorf("info %+v", i)
	}
	var b bytes.Buffer
	for _, s := range read(t, r) {
		fmt.Fprintf(&b, "%s\n", asText(t, s))
	}
	sum := sha256.Sum256(b.Bytes())
	lines := bytes.SplitAfter(b.Bytes(), []byte("\n"))
	got := fmt.Sprintf("%s%s%s%x\n", lines[0], lines[28], lines[59], sum)
	if *update {
		if err := os.WriteFile(keptText, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(keptText)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(golden) {
		t.Errorf("samples 1, 29, 60 and the SHA-256 of all differ from %s:\n%s", keptText, got)
	}
	if f, err := r.FindingsAt(30); err != nil || len(f) != 1 || f[0].Cause != "queue-backlog" {
		t.Errorf("findings %+v, %v", f, err)
	}
	if i, err := r.Verify(t.Context()); err != nil || i.Damaged != 0 || i.Samples != 60 {
		t.Errorf("verified %+v, %v", i, err)
	}
}
