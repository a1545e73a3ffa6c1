package requests

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

func page(body string) *probes.Page {
	return &probes.Page{URL: "http://gpu-7:8000/debug/requests", Body: []byte(body)}
}

func TestDecode(t *testing.T) {
	a, err := decode(page(`{"engine":"llmtop","pid":7,"next":12,"missed":2,"in_flight":0,
		"running":[{"seq":3,"id":"a","state":"prefill","arrived":"2027-03-04T06:06:07.5+01:00","stages":{"receive":0.1,"prefill":0.3}},null],
		"finished":[{"seq":12,"id":"b\u001b[31m\n[red]","class":"chat","stream":true,"state":"finished","finish":"stop","arrived":"2027-03-04T05:06:07Z",
			"prompt_bytes":40,"prompt_tokens":9,"cached_tokens":4,"output_tokens":6,"preemptions":-1,"stages":{"decode":0.5,"send":-3,"nonsense":9},
			"ttft_seconds":0.25,"e2e_seconds":-1,"max_itl_seconds":null,"detokenize_busy_seconds":-0.5,"preempted_seconds":0.125}],"future":{"x":[1]}}`), t0)
	if err != nil {
		t.Fatal(err)
	}
	s := a.section("http://gpu-7:8000").Requests
	if !s.At.Equal(t0) || s.InFlight != 2 || s.Missed != 2 || len(s.Running) != 1 || len(s.Finished) != 1 {
		t.Fatalf("got %+v", s)
	}
	r := s.Running[0]
	if r.Stages[probes.StageReceive] != 0.1 || r.Stages[probes.StagePrefill] != 0.3 || r.Stages[probes.StageDecode] != 0 {
		t.Errorf("stages %v", r.Stages)
	}
	if want := t0.Add(500e6); !r.Arrived.Equal(want) || r.Arrived != want {
		t.Errorf("arrived %v, want %v in UTC", r.Arrived, want)
	}
	f := s.Finished[0]
	want := probes.Request{
		Seq: 12, ID: "b[31m [red]", Class: "chat", Stream: true, State: "finished", Finish: "stop", Arrived: t0,
		PromptBytes: 40, PromptTokens: 9, CachedTokens: 4, OutputTokens: 6, TTFTSeconds: probes.Some(0.25), PreemptedSeconds: 0.125,
	}
	want.Stages[probes.StageDecode] = 0.5
	if *f != want {
		t.Errorf("got  %+v\nwant %+v", *f, want)
	}
}

func TestDecodeErrors(t *testing.T) {
	cases := []struct{ name, body, want string }{
		{"HTML", "<html>", "found HTML, not the JSON of requests"},
		{"empty", "", "found an empty page, not the JSON of requests"},
		{"prose", "no such thing", `found text ("no such thing"), not the JSON of requests`},
		{"cut off", `{"engine":"llmtop","next":`, "decoding requests: unexpected end of JSON input"},
		{"another shape", `{"detail":"hello"}`, "found JSON that tells nothing of requests"},
		{"a list", `[1]`, "decoding requests: json: cannot unmarshal array"},
		{"a negative cursor", `{"engine":"llmtop","next":-1}`, "decoding requests: json: cannot unmarshal number -1"},
		{"a word for a number", `{"engine":"llmtop","next":1,"finished":[{"seq":"x"}]}`, "decoding requests: json: cannot unmarshal string"},
		{"deep", strings.Repeat("[", 100000), "decoding requests: invalid character '[' exceeded max depth"},
	}
	for _, c := range cases {
		_, err := decode(page(c.body), t0)
		if err == nil || !strings.HasPrefix(err.Error(), "http://gpu-7:8000/debug/requests: "+c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestSectionIsBounded(t *testing.T) {
	var many []string
	for i := range pageSize + 5 {
		many = append(many, fmt.Sprintf(`{"seq":%d}`, i+1))
	}
	list := strings.Join(many, ",")
	a, err := decode(page(fmt.Sprintf(`{"engine":"x","next":1,"running":[%s],"finished":[%s]}`, list, list)), t0)
	if err != nil {
		t.Fatal(err)
	}
	s := a.section("x")
	if len(s.Finished) != pageSize || s.Missed != 5 || s.Finished[0].Seq != 6 {
		t.Errorf("%d finished from %d, %d missed", len(s.Finished), s.Finished[0].Seq, s.Missed)
	}
	if len(s.Running) != maxRunning || s.InFlight != pageSize+5 {
		t.Errorf("%d running of %d", len(s.Running), s.InFlight)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"engine":"llmtop","pid":7,"next":12,"running":[{"seq":3,"stages":{"queue":1e308}}],"finished":[null]}`)
	f.Add(`{"engine":"","pid":-1,"finished":[{"id":"\u001b","arrived":"0001-01-01T00:00:00Z"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		a, err := decode(page(body), t0)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("unfit error %q", err)
			}
			return
		}
		s := a.section("x")
		for _, r := range append(s.Finished, s.Running...) {
			if strings.ContainsAny(r.ID+r.State+r.Class+r.Finish, "\x1b\n") || r.OutputTokens < 0 || r.TTFTSeconds.Or(0) < 0 {
				t.Fatalf("unclean %+v", r)
			}
		}
		recent(s.Finished, t0, time.Hour)
	})
}
