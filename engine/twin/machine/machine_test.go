package machine_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/machine"
	"llmtop/probes"
)

// What replicas asked for is what their processes did once nothing is owed: sums of members
// are the totals, no more is used than there are cores, and nothing goes back.
func TestSecondsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config()
		c.Personality, c.Cores = rapid.SampledFrom(machine.Personalities()).Draw(t, "engine"), rapid.SampledFrom([]int{2, 8, 64}).Draw(t, "cores")
		c.Seed, c.TP, c.Spread = rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom([]int{1, 4}).Draw(t, "tp"), 0.2
		w := newWorld(t, c)
		w.step = time.Duration(rapid.IntRange(50, 2000).Draw(t, "ms")) * time.Millisecond
		last := w.sample()
		for range rapid.IntRange(2, 12).Draw(t, "turns") {
			k := rapid.SampledFrom([]knob.ID{knob.CPUQuota, knob.CPUNeighbour, knob.CPUThreads, knob.CPUSteal, knob.MemoryPressure, knob.Disk, knob.NUMARemote, knob.Network, knob.Retransmits, knob.TokenizerThreads}).Draw(t, "knob")
			v := rapid.Float64Range(max(knob.Table[k].Min, 0.02), min(knob.Table[k].Max, 200)).Draw(t, "value")
			w.turn(t, k, v)
			for range rapid.IntRange(1, 5).Draw(t, "steps") {
				w.advance()
			}
			s := w.sample()
			check(t, c.Cores, last, s)
			last = s
		}
	})
}

func check(t *rapid.T, cores int, was, is *probes.Sample) {
	seconds := is.At.Sub(was.At).Seconds()
	sum, p := 0.0, is.Process
	for i, m := range p.Members {
		sum += m.CPUSecondsTotal.Or(-1)
		if i > 0 && m.PID <= p.Members[i-1].PID {
			t.Fatalf("members are not in the order of their numbers")
		}
		old := was.Process.Members[i]
		if m.CPUSecondsTotal.Or(0) < old.CPUSecondsTotal.Or(0) || m.RunWaitSecondsTotal.Or(0) < old.RunWaitSecondsTotal.Or(0) {
			t.Fatalf("member %d went back: %+v, was %+v", m.PID, m, old)
		}
	}
	if total := p.CPUSecondsTotal.Or(-1); math.Abs(sum-total) > 0.01*float64(len(p.Members)+1) {
		t.Fatalf("members %g s, all %g s", sum, total)
	}
	used := p.CPUSecondsTotal.Or(0) - was.Process.CPUSecondsTotal.Or(0)
	busy := is.Host.CPUBusySecondsTotal.Or(0) - was.Host.CPUBusySecondsTotal.Or(0)
	steal := is.Host.CPUStealSecondsTotal.Or(0) - was.Host.CPUStealSecondsTotal.Or(0)
	if used+steal > busy+0.05 || busy > float64(cores)*seconds+0.05 {
		t.Fatalf("%g s of engines and %g stolen in %g busy ones of %d cores, %g s", used, steal, busy, cores, seconds)
	}
	if most := is.Host.BusiestCoreSecs.Or(0) - was.Host.BusiestCoreSecs.Or(0); most > seconds+0.02 {
		t.Fatalf("a core was busy for %g of %g s", most, seconds)
	}
	for _, s := range []probes.Opt[float64]{is.Host.CPUPressure.SomeAvg10Ratio, is.Host.IOPressure.SomeAvg10Ratio, p.CgroupPressure.SomeAvg10Ratio} {
		if v := s.Or(-1); v < 0 || v > 1 {
			t.Fatalf("a pressure of %g", v)
		}
	}
	if free := is.Host.MemoryAvailableBytes.Or(-1); free <= 0 || free > is.Host.MemoryTotalBytes.Or(0) {
		t.Fatalf("%g bytes available", free)
	}
}

func TestWorkIsDoneInTheEnd(t *testing.T) {
	c := config()
	c.Personality, c.TP, c.Spread = "llmtop", 1, 0 // none of its threads spins
	w := newWorld(t, c)
	before := w.sample().Process.CPUSecondsTotal.Or(0)
	for i := range 200 {
		if i == 50 {
			w.turn(t, knob.CPUQuota, 0.7)
		}
		if i == 100 {
			w.turn(t, knob.CPUQuota, 1000)
		}
		w.advance()
	}
	if got := w.sample().Process.CPUSecondsTotal.Or(0) - before; math.Abs(got-w.done) > 0.1 {
		t.Errorf("%g s used, %g s asked for", got, w.done)
	}
}

func TestSameSeedSameSections(t *testing.T) {
	run := func(seed uint64) []byte {
		c := config()
		c.Seed = seed
		w := newWorld(t, c)
		w.asks.Slow = 2
		var out []byte
		for i := range 40 {
			if i == 10 {
				w.turn(t, knob.MemoryPressure, 0.3)
			}
			w.advance()
			text, err := json.Marshal(w.sample())
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text...)
		}
		profile, err := w.Profile(1, began.Add(w.now), 5)
		if err != nil {
			t.Fatal(err)
		}
		return append(out, profile.Raw...)
	}
	if string(run(7)) != string(run(7)) {
		t.Error("the same seed tells two stories")
	}
	if string(run(7)) == string(run(8)) {
		t.Error("two seeds tell the same story")
	}
}

// Everything that a section may hold is there, or has a reason.
func TestSectionsAreWhole(t *testing.T) {
	for _, name := range machine.Personalities() {
		c := config()
		c.Personality = name
		w := newWorld(t, c)
		w.asks.Slow, w.asks.SendQueue = 2, 1e6
		w.turn(t, knob.CPUNeighbour, 12)
		var s *probes.Sample
		for range 20 {
			w.advance()
			s = w.sample()
		}
		for what, section := range map[string]any{"host": s.Host, "process": s.Process, "neighbours": s.Neighbours, "sockets": s.Sockets} {
			whole(t, name+": "+what, reflect.ValueOf(section))
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back probes.Sample
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(&back, s) {
			t.Errorf("%s: JSON has lost something", name)
		}
	}
}

// whole looks for readings that nobody made. Of a kernel's thread no cgroup is told.
func whole(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		whole(t, path, v.Elem())
	case reflect.Slice:
		if v.Len() == 0 {
			t.Errorf("%s is empty", path)
		}
		for i := range v.Len() {
			whole(t, path, v.Index(i))
		}
	case reflect.Struct:
		if o, ok := v.Interface().(interface{ IsZero() bool }); ok {
			if o.IsZero() {
				t.Errorf("%s was forgotten", path)
			}
			return
		}
		for i := range v.NumField() {
			whole(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
}

func TestRestart(t *testing.T) {
	w := newWorld(t, config())
	step := func(loads ...machine.Load) *probes.Sample {
		w.now += time.Second
		w.Advance(w.now, time.Second, loads)
		return w.sample()
	}
	up := busy()
	step(up, up)
	first := step(up, up)
	pids := w.PIDs()
	second := step(up, machine.Load{Restarted: true})
	if n := len(second.Process.Members); n != 6 || second.Process.PID != first.Process.PID {
		t.Errorf("one of two ended: %d members, named after %d, was %d", n, second.Process.PID, first.Process.PID)
	}
	if was, is := first.Process.CPUSecondsTotal.Or(0), second.Process.CPUSecondsTotal.Or(0); is < was {
		t.Errorf("the member that ended took %g s back", was-is)
	}
	if now := w.PIDs(); !reflect.DeepEqual(now[:4], pids[:4]) || now[4] != 0 || now[7] != 0 {
		t.Errorf("processes on the GPUs %v, were %v", now, pids)
	}
	if got := second.Sockets.Connections.Or(-1); got != 120 {
		t.Errorf("%g connections, want those of one replica", got)
	}
	loading := machine.Load{Loading: true, Read: 2e9}
	loads := step(up, loading)
	if n := len(loads.Process.Members); n != 12 {
		t.Errorf("%d members while one loads, want 12", n)
	}
	if read := step(up, loading).Host.Disks[0].ReadBytesTotal.Or(0) - loads.Host.Disks[0].ReadBytesTotal.Or(0); read < 1e9 {
		t.Errorf("%g bytes of weights read in a second", read)
	}
	again := step(up, up)
	if now := w.PIDs(); now[4] == pids[4] || now[4] == 0 || !w.Began(1).After(began) {
		t.Errorf("the new process is %d, the old one was %d; it began at %v", now[4], pids[4], w.Began(1))
	}
	if down := step(machine.Load{Restarted: true}, up); down.Process.PID == again.Process.PID || down.Process.PID == 0 {
		t.Errorf("the first engine ended, and the section is still named after %d", down.Process.PID)
	}
	if none := step(machine.Load{}, machine.Load{}); none.Process != nil || none.Sockets.Connections.Or(-1) != 0 {
		t.Errorf("no engine is there, but %+v is told", none.Process)
	}
}

// A day leaves no more behind than an hour.
func TestDay(t *testing.T) {
	w := newWorld(t, config())
	w.step, w.asks.Slow = 10*time.Second, 3
	after := func(d time.Duration) int {
		for w.now < d {
			w.advance()
			if w.now%time.Minute == 0 {
				w.sample()
			}
		}
		text, err := json.Marshal(w.sample())
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	hour := after(time.Hour)
	if day := after(24 * time.Hour); float64(day) > 1.1*float64(hour) {
		t.Errorf("a sample has %d bytes after a day, %d after an hour", day, hour)
	}
	s := w.sample()
	if rss := s.Process.RSSBytes.Or(0); rss > 100<<30 {
		t.Errorf("engines hold %g bytes after a day", rss)
	}
}

func TestTitles(t *testing.T) {
	for _, c := range []struct {
		engine string
		tp, pp int
		want   string
	}{
		{"vllm", 2, 1, "vllm=server VLLM::EngineCor=engine VLLM::Worker_TP=tp0 VLLM::Worker_TP=tp1"},
		{"vllm", 1, 1, "vllm=server VLLM::EngineCor=engine"},
		{"vllm", 1, 2, "vllm=server VLLM::EngineCor=engine VLLM::Worker_PP=pp0 VLLM::Worker_PP=pp1"},
		{"vllm", 2, 2, "vllm=server VLLM::EngineCor=engine VLLM::Worker_PP=pp0 tp0 VLLM::Worker_PP=pp0 tp1 VLLM::Worker_PP=pp1 tp0 VLLM::Worker_PP=pp1 tp1"},
		{"sglang", 2, 1, "sglang::http_se=server sglang::schedul=tp0 sglang::schedul=tp1 sglang::detoken=detokenizer"},
		{"sglang", 1, 1, "sglang::http_se=server sglang::schedul=scheduler sglang::detoken=detokenizer"},
		{"tgi", 2, 1, "text-generation=server text-generation= text-generation="},
		{"trtllm", 2, 1, "trtllm-serve=server python3=worker python3=worker"},
		{"llamacpp", 2, 1, "llama-server=server"},
		{"llmtop", 1, 1, "llmtop=server"},
	} {
		cfg := config()
		cfg.Personality, cfg.TP, cfg.PP, cfg.Replicas = c.engine, c.tp, c.pp, 1
		w := newWorld(t, cfg)
		w.advance()
		var got []string
		for _, m := range w.sample().Process.Members {
			if len(m.Name) > 15 {
				t.Errorf("%s: the kernel keeps 15 bytes of %q", c.engine, m.Name)
			}
			got = append(got, m.Name+"="+m.Rank)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s TP%d PP%d:\n%s\nwant\n%s", c.engine, c.tp, c.pp, text, c.want)
		}
	}
}

func TestImpossibleHosts(t *testing.T) {
	board := knob.NewBoard(1, 1)
	for _, c := range []struct {
		config machine.Config
		want   string
	}{
		{machine.Config{Replicas: 1, Personality: "vllm", Board: board}, "0 cores"},
		{machine.Config{Cores: 8, Personality: "vllm", Board: board}, "0 replicas"},
		{machine.Config{Cores: 8, Replicas: 1, TP: 1000, Personality: "vllm", Board: board}, "1000 ranks"},
		{machine.Config{Cores: 8, Replicas: 1, Personality: "vllm"}, "board"},
		{machine.Config{Cores: 8, Replicas: 1, Ports: 99, Personality: "vllm", Board: board}, "99 ports"},
		{machine.Config{Cores: 8, Replicas: 1, Personality: "none", Board: board}, `"none"`},
	} {
		if _, err := machine.New(c.config); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want a line about %s", c.config, err, c.want)
		}
	}
}
