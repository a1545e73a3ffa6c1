package probes

import (
	"slices"
	"testing"
	"time"
)

func logSection(source, kind string, total float64, numbers ...LogNumber) *EngineLog {
	return &EngineLog{Source: source, Counts: []LogCount{{Kind: "throughput", Total: 5 * total}, {Kind: kind, Total: total, Numbers: numbers}}}
}

func TestLogEvents(t *testing.T) {
	const path = "/var/log/vllm.log"
	oom := []LogNumber{{"bytes", 1.5 * (1 << 30)}, {"free_bytes", 512}}
	steps := []struct {
		name   string
		second float64
		logs   []*EngineLog
		want   []string
	}{
		{"nothing yet", 0, []*EngineLog{logSection("file:"+path, "oom", 0, oom...)}, nil},
		{"two", 1, []*EngineLog{logSection("file:"+path, "oom", 2, oom...)}, []string{"oom ×2 in /var/log/vllm.log: bytes 1.5 GiB, free 512 B"}},
		{"no more", 2, []*EngineLog{logSection("file:"+path, "oom", 2, oom...)}, nil},
		{"again, too soon to tell", 5, []*EngineLog{logSection("file:"+path, "oom", 3)}, nil},
		{"another log", 6, []*EngineLog{logSection("file:"+path, "oom", 4), logSection("journal:kernel", "xid", 1, LogNumber{"xid", 79})}, []string{"xid ×1 in journal:kernel: xid 79"}},
		{"time to tell", 11, []*EngineLog{logSection("file:"+path, "oom", 4), logSection("journal:kernel", "xid", 1)}, []string{"oom ×2 in /var/log/vllm.log"}},
		{"no incident", 30, []*EngineLog{logSection("file:"+path, "graph-capture", 7)}, nil},
		{"counted anew", 40, []*EngineLog{logSection("file:"+path, "oom", 0)}, nil},
		{"and once more", 50, []*EngineLog{logSection("file:"+path, "oom", 1, LogNumber{"kv_usage_ratio", 0.94}, LogNumber{"seconds", 0.25})}, []string{"oom ×1 in /var/log/vllm.log: kv usage 94 %, seconds 0.25"}},
		{"hostile", 70, []*EngineLog{logSection("file:/a\x1b[2J\n\u202eb", "stalled", 1)}, []string{"stalled ×1 in /a[2J b"}},
	}
	var w Watcher
	for _, s := range steps {
		mono := time.Duration(s.second * float64(time.Second))
		var got []string
		for _, e := range w.Events(&Sample{At: sec(s.second), Mono: mono, Logs: s.logs}) {
			if e.Kind != EventEngineLog || !e.At.Equal(sec(s.second)) {
				t.Errorf("%s: %+v", s.name, e)
			}
			got = append(got, e.Text)
		}
		if !slices.Equal(got, s.want) {
			t.Errorf("%s: got %q, want %q", s.name, got, s.want)
		}
	}
}

func TestLogIncidentsAreKinds(t *testing.T) {
	for _, kind := range LogIncidents {
		if !slices.Contains(LogKinds, kind) {
			t.Errorf("%s is no kind", kind)
		}
	}
}
