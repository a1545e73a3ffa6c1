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

// kept are recordings that every later reader must read, and the text of some of
// their samples. Only that of the version being written can be written anew.
const (
	keptV1 = "../../testdata/recordings/v1-small"
	keptV2 = "../../testdata/recordings/v2-small"
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

// keep writes a recording in short groups, with a finding, a mark and a gap. Its values are invented.
func keep(t *testing.T, path string) {
	t.Helper()
	os.Remove(path)
	f, err := createFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := newAppender(f, Manifest{
		Format: "2.0", Version: "0.2", Created: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Interval: time.Second,
		Host: "synthetic", OS: "linux", CPU: "synthetic", CPUs: 128, Facts: map[string]string{"model": "synthetic/model-70b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	a.group = 16
	for i, s := range newSmall().rich(60) {
		it := item{sample: s}
		switch i {
		case 30:
			it.findings = []*Finding{{At: s.At, State: "degraded", Cause: "queue-backlog", Line: "TTFT is up: requests wait for a slot"}}
		case 35:
			it.mark = &Mark{At: s.At, Text: "load doubled"}
		case 50:
			it.gap = &Gap{From: s.At.Add(-5 * time.Second), To: s.At.Add(-time.Second), Dropped: 5, Reason: "the disk does not keep up"}
		}
		if err := a.write(it); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.end(); err != nil {
		t.Fatal(err)
	}
}

// TestEveryFormatIsReadForEver reads files that earlier versions wrote. When it fails,
// the reader is wrong, never the file: write a new one beside it for a new format.
func TestEveryFormatIsReadForEver(t *testing.T) {
	for path, format := range map[string]string{keptV1: "1.0", keptV2: "2.0"} {
		t.Run(format, func(t *testing.T) {
			if *update && format == "2.0" {
				keep(t, path+".llmrec")
			}
			readKept(t, path, format)
		})
	}
}

func readKept(t *testing.T, path, format string) {
	r := open(t, path+".llmrec")
	i := r.Info()
	if i.Samples != 60 || i.Damaged != 0 || i.Unknown != 0 || !i.CleanClose || i.Findings != 1 || len(i.Marks) != 1 {
		t.Errorf("info %+v", i)
	}
	if gaps := map[string]int{"1.0": 0, "2.0": 1}[format]; len(i.Gaps) != gaps {
		t.Errorf("gaps %+v, want %d", i.Gaps, gaps)
	}
	if i.Bytes > 60_000 || i.Manifest.Format != format || i.Manifest.CPUs != 128 || len(i.Engines) != 1 {
		t.Errorf("info %+v", i)
	}
	var b bytes.Buffer
	for _, s := range read(t, r) {
		fmt.Fprintf(&b, "%s\n", asText(t, s))
	}
	sum := sha256.Sum256(b.Bytes())
	lines := bytes.SplitAfter(b.Bytes(), []byte("\n"))
	got := fmt.Sprintf("%s%s%s%x\n", lines[0], lines[28], lines[59], sum)
	if *update && format == "2.0" {
		if err := os.WriteFile(path+".txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(golden) {
		t.Errorf("samples 1, 29, 60 and the SHA-256 of all differ from %s.txt:\n%s", path, got)
	}
	if f, err := r.FindingsAt(30); err != nil || len(f) != 1 || f[0].Cause != "queue-backlog" {
		t.Errorf("findings %+v, %v", f, err)
	}
	if i, err := r.Verify(t.Context()); err != nil || i.Damaged != 0 || i.Samples != 60 {
		t.Errorf("verified %+v, %v", i, err)
	}
}
