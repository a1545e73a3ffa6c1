package export

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPromtool has Prometheus' own tool make blocks of an export and reads every value back
// from them.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian: apt-get install prometheus)")
	}
	dir := t.TempDir()
	r := open(t, incident)
	o := whole(r)
	o.Raw = true
	text := exposed(t, r, o, maxValues)
	file, blocks := filepath.Join(dir, "export.om"), filepath.Join(dir, "blocks")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(blocks, "wal"), 0o700); err != nil { // dump wants a whole database
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "tsdb", "create-blocks-from", "openmetrics", file, blocks).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(promtool, "tsdb", "dump", blocks).Output()
	if err != nil {
		t.Fatal(err)
	}
	want, got := 0, dumped(t, out)
	for series, points := range checkExposition(t, text) {
		for ms, v := range points {
			x, ok := got[canonical(series)][ms]
			if !ok || x != v && !(x != x && v != v) {
				t.Fatalf("%s at %d is %v in the blocks (there: %v), want %v", series, ms, x, ok, v)
			}
			want++
		}
	}
	n := 0
	for _, points := range got {
		n += len(points)
	}
	if n != want || want < 10_000 {
		t.Errorf("%d points in the blocks, want %d", n, want)
	}
}

var (
	dumpLine = regexp.MustCompile(`^\{(.*)\} (\S+) (-?\d+)$`)
	oneLabel = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)=("(?:[^"\\]|\\.)*")`)
)

// dumped reads what promtool tsdb dump prints: {__name__="…", …} value milliseconds.
func dumped(t *testing.T, out []byte) map[string]map[int64]float64 {
	t.Helper()
	points := map[string]map[int64]float64{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		m := dumpLine.FindStringSubmatch(lines.Text())
		if m == nil {
			t.Fatalf("not understood: %q", lines.Text())
		}
		v, err := strconv.ParseFloat(m[2], 64)
		ms, err2 := strconv.ParseInt(m[3], 10, 64)
		if err != nil || err2 != nil {
			t.Fatalf("not understood: %q", lines.Text())
		}
		key := labelsIn(m[1])
		if points[key] == nil {
			points[key] = map[int64]float64{}
		}
		points[key][ms] = v
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return points
}

// canonical is a series of an exposition in the manner of labelsIn.
func canonical(series string) string {
	name, labels, _ := strings.Cut(series, "{")
	return labelsIn(fmt.Sprintf("__name__=%q,%s", name, labels))
}

// labelsIn are the labels in a text, sorted.
func labelsIn(text string) string {
	labels := oneLabel.FindAllString(text, -1)
	slices.Sort(labels)
	return strings.Join(labels, ",")
}
