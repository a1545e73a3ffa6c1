package enginelog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"llmtop/probes"
)

// TestNothingOfALineLeaves plants a text and digits in every known line, wherever there is
// room for them, and looks for them in the section and in what the probe says.
func TestNothingOfALineLeaves(t *testing.T) {
	const marker, digits = "My-Secret-Prompt", "27182818284590"
	table := rows()
	m := newMatcher(table)
	for _, r := range table {
		hits := 0
		words := strings.SplitAfter(r.example, " ")
		for at := 0; at <= len(words); at++ {
			line := strings.Join(words[:at], "") + marker + " " + digits + " " + strings.Join(words[at:], "")
			for _, line := range []string{line, `{"log":` + quote(t, line) + `}`, strings.ReplaceAll(r.example, " ", " "+marker+" ")} {
				s := newSink(m, "file:/var/log/engine.log")
				s.line([]byte(line), false)
				s.read(1, 0, nil)
				section, err := s.section()
				if err != nil {
					t.Fatal(err)
				}
				if len(section.Counts) > 0 {
					hits++
				}
				text := quote(t, section)
				if strings.Contains(text, marker) || strings.Contains(text, digits) || strings.Contains(text, "2718281828") {
					t.Fatalf("%s\n is told as %s", line, text)
				}
			}
		}
		if hits == 0 && !strings.HasSuffix(r.pattern, "$") { // else there is no room in it
			t.Errorf("no line with a marker is of kind %s: %s", r.kind, r.example)
		}
	}
}

func quote(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAPanicTellsNothing: what a panic carries may come from a line.
func TestAPanicTellsNothing(t *testing.T) {
	s := newSink(newMatcher(rows()), "x")
	s.guarded(func() { panic(fmt.Sprintf("line %q", "My-Secret-Prompt")) })
	section, err := s.section()
	if section != nil || err == nil || strings.Contains(err.Error(), "Secret") {
		t.Errorf("%+v, %v", section, err)
	}
}

// TestSectionsStay: a section that was handed out is not changed by later lines.
func TestSectionsStay(t *testing.T) {
	s := newSink(newMatcher(rows()), "x")
	s.line([]byte(full), false)
	s.read(1, 0, nil)
	first, err := s.section()
	if err != nil {
		t.Fatal(err)
	}
	before := quote(t, first)
	s.line([]byte(strings.Replace(full, "reqs: 2", "reqs: 7", 1)), false)
	s.line([]byte("NVRM: Xid (PCI:0000:5e:00): 79, x"), false)
	s.read(2, 5, nil)
	second, err := s.section()
	if err != nil {
		t.Fatal(err)
	}
	if quote(t, first) != before {
		t.Errorf("%s became %s", before, quote(t, first))
	}
	if total(second, "kv-pool-full") != 2 || total(second, "xid") != 1 || second.Lines.Or(0) != 3 || second.Skipped.Or(0) != 5 {
		t.Errorf("%+v", second)
	}
	var sample probes.Sample
	second.AddTo(&sample)
	if len(sample.Logs) != 1 || sample.Logs[0] != second {
		t.Errorf("%+v", sample.Logs)
	}
}
