package panes

import (
	"fmt"

	"llmtop/probes"
)

// socketSheet are the engines' connections: those whose clients do not read come first.
func socketSheet(v *view, w int) []row {
	s := v.tick.Point.Sockets
	if s == nil {
		return nil
	}
	var f facts
	f.reading("", s.Connections, count, "established")
	f.reading("to be read by clients", s.SendQueueBytes, byteSize, "")
	f.reading("to be read by the engine", s.RecvQueueBytes, byteSize, "")
	if n, ok := s.Waiting.Get(); ok {
		f.add("not yet accepted", count(n)+" of "+show(s.WaitingLimit, count))
	}
	rows := f.rows(w, "all")
	if len(f) == 0 {
		rows = absences([]absence{{"connections", s.Connections.Why()}}, w)
	}
	label := "fullest"
	for i := range s.Full {
		c := &s.Full[i]
		var f facts
		f.add(clean(c.Peer), byteSize(c.SendQueueBytes)+" to be read")
		f.reading("not read for", c.StuckSeconds, seconds, "")
		f.reading("", c.Retransmits, count, "retransmits")
		rows = append(rows, f.rows(w, label)...)
		label = ""
	}
	return rows
}

// neighbourSheet are the other processes that take most.
func neighbourSheet(v *view, w int) []row {
	n := v.tick.Point.Neighbours
	if n == nil {
		return nil
	}
	age := ago(v.at.Sub(n.At))
	looked := fmt.Sprintf("%d processes %s ago, rates of %s", n.Processes, age, seconds(n.SpanSeconds))
	if n.Partial {
		looked += "; those of other users are hidden from this one"
	}
	rows := labelled(w, "looked at", looked)
	var unseen []absence
	for i := range n.List {
		p := &n.List[i]
		r := row{}.add(plain, " ").right(plain, 8, fmt.Sprint(p.PID)).add(plain, "  ").left(strong, 16, clean(p.Name)).
			add(plain, " ").left(faint, 10, clean(p.User)).
			add(faint, " CPU").right(plain, 6, show(p.CPUCores, digits)).
			add(faint, "  rss").right(plain, 9, show(p.RSSBytes, byteSize)).
			add(faint, "  disks").right(plain, 11, show(p.IOBytesPerS, rate))
		if !p.IOBytesPerS.Seen() && p.IOBytesPerS.Why() == probes.NoPermission && unseen == nil {
			unseen = []absence{{"what some move to and from disks", probes.NoPermission}}
		}
		if p.Blocked {
			r = r.add(bad, "  state D")
		}
		if shared, ok := p.SharedCPUs.Get(); ok {
			r = r.add(faint, "  shares "+count(shared)+" cores")
		}
		if weight, ok := p.CgroupWeight.Get(); ok {
			r = r.add(faint, "  weight "+count(weight))
		}
		rows = append(rows, r)
	}
	return append(rows, absences(unseen, w)...)
}
