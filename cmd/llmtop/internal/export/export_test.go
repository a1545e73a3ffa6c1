package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

const incident = "../../../../testdata/recordings/queue-backlog.llmrec"

func open(t testing.TB, path string) *record.Reader {
	t.Helper()
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// whole are options for all of a recording.
func whole(r *record.Reader) Options {
	i := r.Info()
	return Options{From: i.Start, To: i.End, Signals: rules.Table()}
}

// folded is what the screen computes.
func folded(t testing.TB, path string) []*rules.Tick {
	t.Helper()
	book, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	d, r := rules.NewDiagnoser(book, rules.Options{}), open(t, path)
	var ticks []*rules.Tick
	for {
		s, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return ticks
		}
		if err != nil {
			t.Fatal(err)
		}
		ticks = append(ticks, d.Observe(s))
	}
}

type jsonLine struct {
	Type    string
	Time    time.Time
	Signals json.RawMessage
	Raw     []struct{ Series []struct{ Value any } }
	Text    string
	Dropped int
	Samples int
}

func jsonLines(t *testing.T, r *record.Reader, o Options) (lines []jsonLine) {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(t.Context(), &b, r, o); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&b)
	for {
		var l jsonLine
		err := d.Decode(&l)
		if err == io.EOF {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
}

// TestJSONIsWhatTheScreenShows holds every value against the fold that the screen makes.
func TestJSONIsWhatTheScreenShows(t *testing.T) {
	ticks, n, missing, findings := folded(t, incident), 0, 0, 0
	r := open(t, incident)
	o := whole(r)
	o.Raw = true
	for i, l := range jsonLines(t, r, o) {
		switch {
		case i == 0 && l.Type != "recording":
			t.Errorf("the first line is a %s", l.Type)
		case l.Type == "finding":
			findings++
		case l.Type == "sample":
			var got map[string]*float64
			if err := json.Unmarshal(l.Signals, &got); err != nil {
				t.Fatal(err)
			}
			for _, s := range rules.Table() {
				want, seen := ticks[n].Signals.Get(s.Name).Get()
				v, named := got[s.Name]
				if !named || (v != nil) != seen || seen && *v != want {
					t.Fatalf("sample %d: %s is %v, want %v (seen: %v)", n, s.Name, v, want, seen)
				}
				if !seen {
					missing++
				}
			}
			if !l.Time.Equal(ticks[n].Point.At) {
				t.Fatalf("sample %d at %v", n, l.Time)
			}
			if n++; n == 5 && (len(l.Raw) != 1 || len(l.Raw[0].Series) < 100) {
				t.Errorf("raw: %d pages", len(l.Raw))
			}
		}
	}
	if n != len(ticks) || missing == 0 || findings != 3 {
		t.Errorf("%d samples of %d, %d missing values, %d findings", n, len(ticks), missing, findings)
	}
}

func csvRows(t *testing.T, r *record.Reader, o Options) [][]string {
	t.Helper()
	var b bytes.Buffer
	if err := CSV(t.Context(), &b, r, o); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestCSVLeavesOutWhatIsMissing(t *testing.T) {
	ticks := folded(t, incident)
	r := open(t, incident)
	rows := csvRows(t, r, whole(r))
	if len(rows) != len(ticks)+1 {
		t.Fatalf("%d rows for %d samples", len(rows), len(ticks))
	}
	empty := 0
	for i, tick := range ticks {
		row := rows[i+1]
		if at, err := time.Parse(time.RFC3339, row[0]); err != nil || !at.Equal(tick.Point.At) {
			t.Fatalf("row %d: time %q", i, row[0])
		}
		for j, name := range rows[0][1:] {
			want, seen := tick.Signals.Get(name).Get()
			got, err := strconv.ParseFloat(row[j+1], 64)
			if seen && (err != nil || got != want) || !seen && row[j+1] != "" {
				t.Fatalf("row %d: %s is %q, want %v (seen: %v)", i, name, row[j+1], want, seen)
			}
			if !seen {
				empty++
			}
		}
	}
	if empty == 0 {
		t.Error("nothing is missing: the test shows nothing")
	}
}

// TestAStretchIsAsInTheWhole: the signals of a part have the past that they had.
func TestAStretchIsAsInTheWhole(t *testing.T) {
	r := open(t, incident)
	o := whole(r)
	all := csvRows(t, r, o)
	o.From, o.To = o.From.Add(30500*time.Millisecond), o.From.Add(41500*time.Millisecond)
	part := csvRows(t, r, o)
	if len(part) != 12 {
		t.Fatalf("%d rows", len(part))
	}
	for i, row := range part[1:] {
		if got, want := strings.Join(row, ","), strings.Join(all[32+i], ","); got != want {
			t.Errorf("row %d:\n%s\n%s", i, got, want)
		}
	}
}

// written makes a recording of these entries.
func written(t testing.TB, entries ...record.Entry) *record.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.llmrec")
	c, err := record.NewCopy(path, record.Manifest{Interval: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := c.Add(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return open(t, path)
}

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func second(s float64) time.Time { return began.Add(time.Duration(s * 1e9)) }

// sampleAt is an empty sample.
func sampleAt(s float64) *probes.Sample {
	return &probes.Sample{Seq: uint64(s) + 1, At: second(s), Mono: second(s).Sub(began), Interval: time.Second}
}

// TestMarksGapsAndEventsAreLines: they stand where they stood, and a gap is no rows.
func TestMarksGapsAndEventsAreLines(t *testing.T) {
	restart := sampleAt(9)
	restart.Events = []probes.Event{{At: second(8.5), Kind: probes.EventRestart, Text: "it began anew"}}
	r := written(t, record.Entry{Sample: sampleAt(0)}, record.Entry{Mark: &record.Mark{At: second(0.5), Text: "look \x1b[2J here"}},
		record.Entry{Gap: &record.Gap{From: second(1), To: second(8), Dropped: 8, Reason: "the disk does not keep up"}}, record.Entry{Sample: restart})
	var order []string
	for _, l := range jsonLines(t, r, whole(r)) {
		order = append(order, l.Type)
		if strings.Contains(l.Text, "\x1b") || l.Type == "gap" && l.Dropped != 8 {
			t.Errorf("%+v", l)
		}
	}
	if got, want := strings.Join(order, " "), "recording sample mark gap sample event"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if rows := csvRows(t, r, whole(r)); len(rows) != 3 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestExportsEndWithTheirContext(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	r := open(t, incident)
	for name, f := range map[string]func(context.Context, io.Writer, *record.Reader, Options) error{
		"json": JSON, "csv": CSV, "openmetrics": OpenMetrics,
		"trace": func(ctx context.Context, w io.Writer, r *record.Reader, o Options) error {
			_, err := Trace(ctx, w, r, o)
			return err
		},
	} {
		if err := f(over, io.Discard, r, whole(r)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
