package workload

import (
	"strings"
	"testing"
	"time"

	"llmtop/engine"
)

const first = "arrival_seconds,prompt_tokens,output_tokens,prefix_id,class"

func TestReadTrace(t *testing.T) {
	text := "\ufeff# from somewhere\r\n" + first + ",prefix_tokens,stream,adapter,schema,images,slow\r\n" +
		"0,100,10,,normal,,,,,,\r\n\r\n0.5, 200 ,20,\"abc\",realtime,150,0,3,4,1,1\r\n7.25,300,30,17,background,,1,,,,0"
	trace, err := ReadTrace(strings.NewReader(text), "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	r := trace.Rows
	if len(r) != 3 || r[0] != (Row{Prompt: 100, Output: 10}) || r[1].Prefix == 0 {
		t.Fatalf("got %+v", r)
	}
	r[1].Prefix = 1
	if r[1] != (Row{At: 500 * time.Millisecond, Prompt: 200, Output: 20, Prefix: 1, PrefixTokens: 150, Class: engine.Realtime, Unary: true, Adapter: 3, Schema: 4, Images: 1, Slow: true}) ||
		r[2] != (Row{At: 7250 * time.Millisecond, Prompt: 300, Output: 30, Prefix: 17, Class: engine.Background}) {
		t.Errorf("got %+v", r)
	}
}

func TestTraceErrors(t *testing.T) {
	const head = first + ",prefix_tokens\n"
	for text, want := range map[string]string{
		"":                                 "t.csv: the file is empty",
		head:                               "t.csv: no request in it",
		"prompt_tokens,output_tokens\n1,1": "t.csv:1: there is no column arrival_seconds",
		first + ",colour\n":                `t.csv:1: there is no column "colour"; there are arrival_seconds`,
		first + ",class\n":                 "t.csv:1: the column class is there twice",
		"\x00\x01\x02":                     "t.csv:1: this is no text",
		head + "0,1,1,,normal":             "t.csv:2: 5 fields where the first line has 6",
		head + "0,1,1,,normal,,7":          "t.csv:2: 7 fields where the first line has 6",
		head + "-1,1,1,,,":                 `t.csv:2: arrival_seconds "-1": must be a number of seconds from 0`,
		head + "nan,1,1,,,":                `t.csv:2: arrival_seconds "nan"`,
		head + "1e300,1,1,,,":              `t.csv:2: arrival_seconds "1e300"`,
		head + "2,1,1,,,\n1.5,1,1,,,":      "t.csv:3: arrival_seconds goes back from 2 to 1.5",
		head + "0,0,1,,,":                  `t.csv:2: prompt_tokens "0": must be a whole number from 1 to 2000000`,
		head + "0,9999999,1,,,":            `t.csv:2: prompt_tokens "9999999"`,
		head + "0,1.5,1,,,":                `t.csv:2: prompt_tokens "1.5"`,
		head + "0,1,-4,,,":                 `t.csv:2: output_tokens "-4"`,
		head + "0,1,,,,":                   `t.csv:2: output_tokens ""`,
		head + "0,1,1,,urgent,":            `t.csv:2: class "urgent": there is no class "urgent"`,
		head + "0,10,1,5,,11":              "t.csv:2: prefix_tokens 11: the prompt has only 10",
		head + "0,10,1," + strings.Repeat("x", 65) + ",,": "must be a word of at most 64 bytes",
		head + strings.Repeat("1", 5000):                  "t.csv:2: the line is longer than 4096 bytes",
	} {
		_, err := ReadTrace(strings.NewReader(text), "t.csv")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("%.60q: got %v\nwant %s", text, err, want)
		}
	}
}

func TestTraceTooLong(t *testing.T) {
	full := Trace{Rows: make([]Row, MaxRows)}
	if err := full.add("0,1,1", []int{0, 1, 2}); err == nil || !strings.Contains(err.Error(), "more than 5000000 requests") {
		t.Errorf("got %v", err)
	}
}

// What is written is read as it was.
func TestWriteTrace(t *testing.T) {
	rows := []Row{{At: 1, Prompt: 1, Output: 2}, {At: time.Hour + 123456789, Prompt: 5, Output: 6, Prefix: 1 << 63, PrefixTokens: 4, Class: engine.Background, Unary: true}}
	var b strings.Builder
	if err := WriteTrace(&b, rows); err != nil {
		t.Fatal(err)
	}
	trace, err := ReadTrace(strings.NewReader(b.String()), "t.csv")
	if err != nil || len(trace.Rows) != 2 || trace.Rows[0] != rows[0] || trace.Rows[1] != rows[1] {
		t.Errorf("got %+v, %v from\n%s", trace, err, b.String())
	}
}

// A trace comes as it is written, or faster; knobs change what they are for.
func TestReplay(t *testing.T) {
	trace := &Trace{Rows: []Row{{Prompt: 100, Output: 10, Prefix: 7, PrefixTokens: 60}, {At: 10 * time.Second, Prompt: 200, Output: 20, Prefix: 7},
		{At: 10 * time.Second, Prompt: 50, Output: 5, Class: engine.Realtime, Unary: true}, {At: 30 * time.Second, Prompt: 80, Output: 8, Schema: 2}}}
	take := func(c Config, turns map[time.Duration]string) (all []Request) {
		s, board := source(t, c, 1)
		for now := time.Duration(0); now <= time.Minute; now += time.Second {
			if text, ok := turns[now]; ok {
				turn(t, s, board, now, text)
			}
			until(s, now+time.Second, func(r *Request) {
				one := *r
				one.Prefix = append([]Segment(nil), r.Prefix...)
				all = append(all, one)
			})
		}
		if _, ok := s.Due(); ok {
			t.Error("more requests are due")
		}
		return all
	}
	r := take(Config{Trace: trace, Speed: 2}, nil)
	if len(r) != 4 || r[0].At != 0 || r[1].At != 5*time.Second || r[2].At != 5*time.Second || r[3].At != 15*time.Second {
		t.Fatalf("twice as fast: %+v", r)
	}
	if r[0].Prompt != 100 || r[0].Prefix[0].Tokens != 60 || r[1].Prefix[0] != (Segment{r[0].Prefix[0].ID, 200}) || len(r[2].Prefix) != 0 ||
		r[2].Class != engine.Realtime || r[2].Stream || !r[3].Stream || r[3].Schema != 2 {
		t.Errorf("got %+v", r)
	}
	if r = take(Config{Trace: trace}, map[time.Duration]string{11 * time.Second: "rate ×4"}); r[3].At != 15*time.Second+750*time.Millisecond {
		t.Errorf("after a turn at 11 s what was due at 30 s comes at %s", r[3].At)
	}
	if r = take(Config{Trace: trace}, map[time.Duration]string{0: "prompt_tokens ×3"}); r[0].Prompt != 60+3*40 || r[1].Prompt != 200 || r[2].Prompt != 150 || r[2].Output != 5 {
		t.Errorf("prompts three times as long: %+v", r)
	}
	if r = take(Config{Trace: trace}, map[time.Duration]string{0: "prefix_reuse ×0"}); r[0].Prompt != 100 || len(r[0].Prefix) != 0 {
		t.Errorf("nothing shared: %+v", r)
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add(first + "\n0,1,1,,\n0.5,20,3,a,realtime\n")
	f.Add("output_tokens,arrival_seconds,prompt_tokens,slow\n1,2,3,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := ReadTrace(strings.NewReader(text), "t.csv")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("no line: %q", err)
			}
			return
		}
		s, _ := source(t, Config{Trace: trace}, 1)
		if n := until(s, never, func(r *Request) {
			if r.Prompt < 1 || r.Output < 1 {
				t.Fatalf("%+v", *r)
			}
		}); n != len(trace.Rows) {
			t.Errorf("%d requests of %d came", n, len(trace.Rows))
		}
	})
}
