package discover

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"llmtop/probes"
	hosts "llmtop/probes/host"
)

// BenchmarkDiscover is one search on this host with 400 sockets more: 8 engines, 30 that
// take connections and never answer, the others of no interest. The whole of /proc is read
// as in earnest; only whose the new sockets are is made up. A search with silent sockets
// takes its budget, one without them as long as its engines take.
//
//	go test -run none -bench Discover ./probes/discover
func BenchmarkDiscover(b *testing.B) {
	for name, silent := range map[string]int{"silent": 30, "all answer": 0} {
		b.Run(name, func(b *testing.B) {
			h := newHost(b)
			for i := range 8 {
				h.serve("x", fmt.Sprintf("vllm serve m%d --port PORT", i), os.Getpid(), pages{"/metrics": vllmPage})
			}
			for range silent {
				h.silent("vllm serve silent --port PORT", os.Getpid())
			}
			for range 400 - 8 - silent {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					b.Fatal(err)
				}
				defer l.Close()
			}
			longest := time.Duration(0)
			found, asked := 0, 0
			for b.Loop() {
				began := time.Now()
				r := Find(context.Background(), Options{Recognise: recognise, Listeners: h.real})
				longest = max(longest, time.Since(began))
				found, asked = len(r.Attachable()), r.Asked
				h.mu.Lock()
				h.asked = nil
				h.mu.Unlock()
			}
			b.ReportMetric(float64(longest.Milliseconds()), "ms-longest")
			b.ReportMetric(float64(found), "found")
			b.ReportMetric(float64(asked), "asked")
			for n := 0; h.connections() > 0 && n < 1000; n++ {
				<-time.After(time.Millisecond)
			}
			b.ReportMetric(float64(h.connections()), "connections-left")
		})
	}
}

// real is what listens on this host, with the invented owners of the sockets made here.
func (h *host) real(ctx context.Context) []probes.Listener {
	list := hosts.Listeners(ctx, "/", Promising)
	owners := map[string]int{}
	for i, l := range h.list {
		owners[l.Addr.String()] = i + 1
	}
	for i := range list {
		if n := owners[list[i].Addr.String()]; n > 0 {
			list[i].PID, list[i].Argv = 1<<20+n, h.list[n-1].Argv
		}
	}
	return list
}
