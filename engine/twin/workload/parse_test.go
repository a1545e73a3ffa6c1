package workload

import (
	"strings"
	"testing"
	"time"

	"llmtop/engine/twin/knob"
)

func TestParseStream(t *testing.T) {
	s, err := ParseStream("chat rate=12/s prompt=lognormal:800,2000 output=300 arrivals=gamma:2+diurnal:0.5,9 documents=5 document=uniform:10,20 zipf=0.5 " +
		"think=12s turns=6 realtime=20% background=0.3 stream=0 adapters=3 guided=0.1 schemas=7 images=0.25 slow=0.01 bytes=4 system=200 systems=9")
	if err != nil {
		t.Fatal(err)
	}
	want := Stream{Kind: "chat", Rate: 12, Arrivals: Arrivals{CV: 2, Swing: 0.5, Peak: 9}, Prompt: lognormal(800, 2000), Output: Length{Shape: Constant, Numbers: [3]float64{300}},
		Prefixes: Prefixes{Systems: 9, System: Length{Shape: Constant, Numbers: [3]float64{200}}, Documents: 5, Document: Length{Uniform, [3]float64{10, 20}}, Zipf: 0.5, Turns: 6, Think: 12},
		Realtime: 0.2, Background: 0.3, Adapters: 3, Guided: 0.1, Schemas: 7, Images: 0.25, Slow: 0.01, Bytes: 4}
	if s != want {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	if s, err = ParseStream("agent rate=1 prefix=none"); err != nil || s.Prefixes != (Prefixes{}) || s.Guided == 0 {
		t.Errorf("got %+v, %v", s, err)
	}
	if a, err := ParseArrivals("bursty:4,5m,30s"); err != nil || a.Burst != (Burst{4, 5 * time.Minute, 30 * time.Second}) {
		t.Errorf("got %+v, %v", a, err)
	}
}

// Each option is refused when it makes no sense; the scenario's golden file has what is said.
func TestParseStreamErrors(t *testing.T) {
	for _, text := range []string{"", "chat rate", "chat rate=", "chat rate=inf", "chat =1", "chat zipf=4", "chat turns=0", "chat think=0", "chat bytes=0", "chat images=2",
		"chat adapters=-1", "chat adapters=1.5", "chat realtime=120%", "chat prompt=lognormal:1,2,3", "chat prompt=bimodal:1,2,3", "chat prompt=uniform:5,2", "chat prompt=1e9",
		"chat prompt=nan", "chat prompt=constant:nan", "chat arrivals=gamma", "chat arrivals=gamma:nan", "chat arrivals=constant:3", "chat arrivals=diurnal:0.5,25",
		"chat arrivals=bursty:2,1s,2s", "chat arrivals=bursty:2,1ms,1ms", "chat arrivals=diurnal:0.5+bursty:2,1m,1s", "chat arrivals=", "longtail documents=3"} {
		if s, err := ParseStream(text); err == nil {
			t.Errorf("%q: accepted as %+v", text, s)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: no line: %v", text, err)
		}
	}
}

// What a program puts together is held to the same.
func TestConfigCheck(t *testing.T) {
	chat := Kinds[0].Stream
	fast, many := chat, Config{Rate: 1}
	fast.Rate = 2e5
	for range MaxStreams + 1 {
		many.Streams = append(many.Streams, chat)
	}
	for name, c := range map[string]Config{
		"nothing": {}, "a negative rate": {Rate: -1}, "a kind that is not there": {Rate: 1, Streams: []Stream{{Kind: "chess"}}},
		"no lengths": {Rate: 1, Streams: []Stream{{Kind: "chat"}}}, "no rate": {Streams: []Stream{chat}}, "too fast": {Streams: []Stream{fast}},
		"many": many, "a trace that goes back": {Trace: &Trace{Rows: []Row{{Prompt: 1, Output: 1}}}, Speed: -1},
	} {
		if _, err := New(c, 1, knob.NewBoard(1, 1)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	s, _ := source(t, Config{Rate: 5}, 1) // chat, if nobody says what
	if n := until(s, 100*time.Second, nil); n < 400 || n > 600 {
		t.Errorf("%d requests in 100 s", n)
	}
}

func FuzzParseStream(f *testing.F) {
	f.Add("chat rate=12 prompt=lognormal:800,2000 arrivals=gamma:2+diurnal:0.5,9")
	f.Add("rag share=0.5 documents=10 document=exponential:300 arrivals=bursty:4,5m,30s")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseStream(text)
		if err != nil {
			return
		}
		c := Config{Rate: 1, Streams: []Stream{s}}
		source, err := New(c, 1, knob.NewBoard(1, 1))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for range 20 {
			if r := source.Take(); r.Prompt < 1 || r.Output < 1 {
				t.Fatalf("%q: %+v", text, *r)
			}
		}
	})
}
