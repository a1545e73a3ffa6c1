package twin

import (
	"fmt"
	"testing"
	"time"

	"llmtop/engine"
	"llmtop/probes"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestRecorded(t *testing.T) {
	request := func(id string, at time.Duration, prompt, cached, output int) *probes.Request {
		return &probes.Request{ID: id, Arrived: noon.Add(at), PromptTokens: prompt, CachedTokens: cached, OutputTokens: output, Class: "background", Stream: true}
	}
	one := &probes.Requests{At: noon.Add(3 * time.Second), Endpoint: "a", Missed: 2, Finished: []*probes.Request{
		request("late", 2*time.Second, 500, 320, 5), request("early", time.Second, 400, 320, 6), request("before", -time.Second, 1, 0, 1)}}
	two := &probes.Requests{At: noon.Add(4 * time.Second), Endpoint: "a", Finished: []*probes.Request{
		request("late", 2*time.Second, 500, 320, 5), request("turn", 3*time.Second, 900, 720, 7), request("refused", 3*time.Second, 90, 0, 0),
		{ID: "plain", Arrived: noon.Add(3500 * time.Millisecond), PromptTokens: 50, OutputTokens: 8, Class: "whatever"}}}
	rec := Recorded{From: noon, To: noon.Add(time.Minute)}
	for _, sections := range [][]*probes.Requests{{one}, {one}, nil, {two}, {two, one}} {
		if err := rec.Add(sections); err != nil {
			t.Fatal(err)
		}
	}
	rows := rec.Rows()
	if len(rows) != 4 || rec.Outside != 1 || rec.Unknown != 1 || rec.Missed != 2 || rec.Partial {
		t.Fatalf("%d rows, %+v", len(rows), rec)
	}
	if rows[0].At != time.Second || rows[1].At != 2*time.Second || rows[0].Output != 6 || rows[0].Class != engine.Background || rows[0].Unary {
		t.Errorf("got %+v", rows)
	}
	if rows[0].Prefix != common || rows[1].Prefix != common || rows[0].PrefixTokens != 320 || rows[2].Prefix != common || rows[2].PrefixTokens != 720 {
		t.Errorf("prefixes of %+v", rows)
	}
	many := &probes.Requests{At: noon.Add(5 * time.Second), Endpoint: "a"}
	for i := range fewAlike {
		many.Finished = append(many.Finished, request(fmt.Sprint(i), 4*time.Second, 300, 160, 9))
	}
	if err := rec.Add([]*probes.Requests{many}); err != nil {
		t.Fatal(err)
	}
	if alike := rec.Rows(); alike[4].Prefix == common || alike[4].Prefix == 0 || alike[4].Prefix != alike[11].Prefix || alike[0].Prefix != common {
		t.Errorf("prefixes of %+v", alike)
	}
	if rows[3].Prefix != 0 || rows[3].Class != engine.Normal || !rows[3].Unary {
		t.Errorf("got %+v", rows[3])
	}
}

// An estimate is the roofline's: as much as its floors and its memory say.
func TestEstimate(t *testing.T) {
	s, err := parseText("gpu h100x8\nmodel llama-3-8b\nreplicas 8\nworkload chat rate=5 prefix=none prompt=2048 output=200\nspread 0")
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	d := s.Deployment()
	near := func(what string, got, want float64) {
		if got < 0.98*want || got > 1.02*want {
			t.Errorf("%s: got %g, want %g", what, got, want)
		}
	}
	near("prefill", e.Prefill, 0.069) // 2 × 8.03e9 × 2048 FLOP and the attention, at half of 989 TFLOP/s
	near("running", e.Running, float64(e.KVTokens)/2148)
	near("capacity", e.Capacity, 8/(e.Prefill+200*e.TPOT/e.Running))
	if m, err := d.Memory(0.9, s.Step()); err != nil || m.KVTokens != e.KVTokens {
		t.Errorf("%d KV tokens, %v, want %d", e.KVTokens, err, m.KVTokens)
	}
	s, err = parseText("linear base=4ms prefill=100us decode=1ms\nengine llmtop blocks=1000 max_num_seqs=8\nworkload chat rate=1 prefix=none prompt=100 output=50")
	if err != nil {
		t.Fatal(err)
	}
	if e, err = s.Estimate(); err != nil {
		t.Fatal(err)
	}
	near("measured: TPOT", e.TPOT, 0.012)
	near("measured: prefill", e.Prefill, 0.014)
	near("measured: capacity", e.Capacity, 1/(0.014+50*0.012/8))
}
