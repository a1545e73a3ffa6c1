package rules

import "llmtop/probes"

// readsSlowly is how long what was sent must have been left before its client is slow and
// the network does not only hiccup: several of TCP's first retransmissions [proposal].
const readsSlowly = 5

// socketRows are the engines' connections.
func socketRows() []Signal {
	row := func(name, title, unit string, step float64, formula string, of func(*probes.Sockets) probes.Opt[float64]) Signal {
		return Signal{Name: name, Title: title, Unit: unit, Kind: "socket", Step: step, Formula: formula,
			Source: "the kernel's table of the engines' TCP connections", Needs: "sockets", Export: exportName(name, unit, ""),
			at: func(n *now) probes.Opt[float64] {
				switch s := n.point.Sockets; {
				case s == nil:
					return missing()
				case !n.fresh(s.At):
					return probes.None[float64](probes.Stale)
				default:
					return of(s)
				}
			}}
	}
	return []Signal{
		row("socket.connections", "connections", "count", 5, "established connections to the engines", func(s *probes.Sockets) probes.Opt[float64] { return s.Connections }),
		row("socket.send_queue", "send queues", "bytes", 1<<20, "bytes sent and not yet acknowledged, of all connections", func(s *probes.Sockets) probes.Opt[float64] { return s.SendQueueBytes }),
		row("socket.recv_queue", "receive queues", "bytes", 1<<20, "bytes received and not yet read by the engines, of all connections: they are behind", func(s *probes.Sockets) probes.Opt[float64] { return s.RecvQueueBytes }),
		row("socket.stuck", "clients that do not read", "count", 1, "connections whose client has left too much of what was sent for more than 5 s (its window is closed, it acknowledges nothing, or 32 KiB and more wait), of those with the longest send queues", stuck),
		row("socket.backlog", "accept backlog", "ratio", 0.2, "connections not yet accepted over the most that may wait", func(s *probes.Sockets) probes.Opt[float64] { return ratio(s.Waiting, s.WaitingLimit) }),
	}
}

// stuck is unknown where the connections could not be read at all.
func stuck(s *probes.Sockets) probes.Opt[float64] {
	count, seen := 0.0, len(s.Full) == 0 && s.Connections.Seen()
	for i := range s.Full {
		if x, ok := s.Full[i].StuckSeconds.Get(); ok {
			if seen = true; x > readsSlowly {
				count++
			}
		}
	}
	if !seen {
		return probes.None[float64](s.Connections.Why())
	}
	return probes.Some(count)
}
