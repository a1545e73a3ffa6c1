package probes

import (
	"encoding/json"
	"math"
	"testing"
)

func TestOptKeepsMissingAndZeroApart(t *testing.T) {
	type section struct {
		A Opt[float64] `json:"a,omitzero"`
		B Opt[float64] `json:"b,omitzero"`
		C Opt[uint64]  `json:"c,omitzero"`
		D Opt[float64] `json:"d"`
	}
	in := section{A: Some(0.0), B: None[float64](NoPermission), C: Some(uint64(math.MaxUint64))}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":0,"b":{"absent":"no permission"},"c":18446744073709551615,"d":null}`; string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
	var out section
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if out != in {
		t.Errorf("got %+v, want %+v", out, in)
	}
}

func TestOptIsNeverNaN(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if o := Some(f); o.Seen() || o.Or(7) != 7 || o.Why() != NotSeen {
			t.Errorf("Some(%v) = %+v, want missing", f, o)
		}
	}
}

func TestOptUnmarshal(t *testing.T) {
	cases := []struct {
		text string
		want Opt[float64]
		bad  bool
	}{
		{text: `null`},
		{text: `1.5`, want: Some(1.5)},
		{text: `{"absent":"stale"}`, want: None[float64](Stale)},
		{text: `{ "absent" : "lost" }`, want: None[float64](Lost)},
		{text: `{"absent":"a reason of the future"}`},
		{text: `{"absent":5}`, bad: true},
		{text: `{"other":5}`, bad: true},
		{text: `"1.5"`, bad: true},
		{text: `1e999`, bad: true},
	}
	for _, c := range cases {
		got := Some(9.0) // what was there before does not shine through
		err := json.Unmarshal([]byte(c.text), &got)
		if (err != nil) != c.bad {
			t.Errorf("%s: error %v, want one: %t", c.text, err, c.bad)
		}
		if c.bad && got.Seen() {
			t.Errorf("%s: a value %v in spite of the error", c.text, got)
		}
		if !c.bad && got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.text, got, c.want)
		}
	}
}

func TestAbsenceNames(t *testing.T) {
	if got := Unsupported.String(); got != "unsupported" {
		t.Errorf("got %q", got)
	}
	if got := Absence(77).String(); got != "absence 77" {
		t.Errorf("got %q", got)
	}
}

func FuzzOptUnmarshal(f *testing.F) {
	for _, s := range []string{`null`, `0`, `-1e-3`, `{"absent":"stale"}`, `{`, `[]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var o Opt[float64]
		if json.Unmarshal([]byte(text), &o) != nil {
			return
		}
		again, err := json.Marshal(o)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var back Opt[float64]
		if err := json.Unmarshal(again, &back); err != nil || back != o {
			t.Fatalf("%q → %s → %+v (%v), want %+v", text, again, back, err, o)
		}
	})
}
