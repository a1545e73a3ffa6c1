package scrape

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"llmtop/probes"
)

func TestUnquoted(t *testing.T) {
	cases := []struct{ name, body, want string }{
		{"a page", `"# TYPE a gauge\na{b=\"c\"} 1\n"`, "# TYPE a gauge\na{b=\"c\"} 1\n"},
		{"blanks around it", "\n \"a 1\\n\"\r\n", "a 1\n"},
		{"once", `"\"a 1\""`, `"a 1"`},
		{"not quoted", "a 1\n", "a 1\n"},
		{"an array", `["a 1"]`, `["a 1"]`},
		{"two strings", `"a 1" "b 2"`, `"a 1" "b 2"`},
		{"cut off", `"a 1\n`, `"a 1\n`},
		{"a quote alone", `"`, `"`},
		{"nothing", "", ""},
		{"too large to be one", `"` + strings.Repeat("a", maxQuoted) + `"`, `"` + strings.Repeat("a", maxQuoted) + `"`},
		{"bytes that are no text", "\"a 1\\n\xff\"", "a 1\n\ufffd"},
	}
	for _, c := range cases {
		if got := string(unquoted([]byte(c.body))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A quoted page keeps its shape from one scrape to the next like any other.
func TestReadQuoted(t *testing.T) {
	value := "1"
	page := func() string {
		quoted, _ := json.Marshal("# TYPE llamacpp:prompt_tokens_total counter\nllamacpp:prompt_tokens_total " + value + "\n")
		return string(quoted)
	}
	p := New("gpu-7:8000", Options{Transport: inProcess(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Write([]byte(page()))
	})})
	var pages []*probes.Scrape
	for range 2 {
		section, err := p.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, section.(*probes.Scrape))
		value = "2"
	}
	if pages[0].Schema != pages[1].Schema || pages[0].Values[0] != 1 || pages[1].Values[0] != 2 || pages[1].Schema.Series[0].Type != probes.Counter {
		t.Errorf("got %+v, %+v", pages[0], pages[1])
	}
}

// What is quoted and no page is still said to be none.
func TestQuotedProse(t *testing.T) {
	for body, want := range map[string]string{
		`"not found"`:       "not Prometheus metrics",
		`"<html>hi</html>"`: "not Prometheus metrics",
		`""`:                "not Prometheus metrics",
	} {
		section, err := New("gpu-7:8000", Options{Transport: serve("application/json", body)}).Read(context.Background())
		if err == nil || section != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v", body, section, err)
		}
	}
}

func FuzzUnquoted(f *testing.F) {
	f.Add([]byte(`"a 1\n"`))
	f.Add([]byte("\"\\ud800\xff\""))
	f.Fuzz(func(t *testing.T, body []byte) {
		if got := unquoted(body); len(got) > 3*len(body) {
			t.Fatalf("%d bytes of %d", len(got), len(body))
		}
	})
}
