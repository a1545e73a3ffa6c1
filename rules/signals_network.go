package rules

import "llmtop/probes"

// networkRows are the host's interfaces and its TCP. They are of the network namespace that
// llmtop runs in.
func networkRows() []Signal {
	row := hostRow
	rate := func(name, title, formula string, of func(*probes.NIC) probes.Opt[float64]) Signal {
		return row(name, title, "bytes/s", 10<<20, formula, func(n *now) probes.Opt[float64] {
			return n.worstNIC(func(old, now *probes.NIC, seconds float64) probes.Opt[float64] {
				return perSecond(of(old), of(now), seconds)
			})
		})
	}
	return []Signal{
		rate("host.net_rx", "network received", "bytes received a second over the busiest interface; virtual ones count where there is no other",
			func(c *probes.NIC) probes.Opt[float64] { return c.RxBytesTotal }),
		rate("host.net_tx", "network sent", "bytes sent a second over the busiest interface; virtual ones count where there is no other",
			func(c *probes.NIC) probes.Opt[float64] { return c.TxBytesTotal }),
		row("host.net_share", "network of link speed", "ratio", 0.05, "bytes a second over the speed of the link, the fuller direction, the fullest interface that tells its speed", func(n *now) probes.Opt[float64] {
			return n.worstNIC(func(old, now *probes.NIC, seconds float64) probes.Opt[float64] {
				rx := perSecond(old.RxBytesTotal, now.RxBytesTotal, seconds)
				return ratio(larger(rx, perSecond(old.TxBytesTotal, now.TxBytesTotal, seconds)), now.SpeedBytesPerS)
			})
		}),
		row("host.net_drops", "packets dropped", "1/s", 10, "packets dropped a second, received and sent, the worst interface", func(n *now) probes.Opt[float64] {
			return n.worstNIC(func(old, now *probes.NIC, seconds float64) probes.Opt[float64] {
				rx := perSecond(old.RxDropsTotal, now.RxDropsTotal, seconds)
				tx, ok := perSecond(old.TxDropsTotal, now.TxDropsTotal, seconds).Get()
				if x, seen := rx.Get(); seen && ok {
					return probes.Some(x + tx)
				}
				return rx
			})
		}),
		row("host.retransmits", "TCP retransmissions", "ratio", 0.005, "TCP segments sent again over all sent, of the whole host; missing below 100 segments", retransmits),
		row("host.listen_overflows", "connections refused by full backlogs", "count", 1, "connections of the wide span that no backlog had room for, of the whole host", func(n *now) probes.Opt[float64] {
			return hostCount(n, func(h *probes.Host) probes.Opt[float64] { return h.TCPListenOverflowsTotal })
		}),
	}
}

// segments for a share of retransmissions worth the name [proposal].
const fewSegments = 100

func retransmits(n *now) probes.Opt[float64] {
	old, _ := n.hostBefore()
	if old == nil {
		return n.hostAbsence()
	}
	is := n.point.Host
	sent := perSecond(old.TCPSegmentsTotal, is.TCPSegmentsTotal, 1)
	again := perSecond(old.TCPRetransmitsTotal, is.TCPRetransmitsTotal, 1)
	if x, ok := sent.Get(); ok && x < fewSegments {
		return missing()
	}
	return ratio(again, sent)
}

// worstNIC is the highest of what each interface did in the now span. What is virtual passes
// on what goes over another one, and has no speed of its own.
func (n *now) worstNIC(of func(old, now *probes.NIC, seconds float64) probes.Opt[float64]) probes.Opt[float64] {
	old, seconds := n.hostBefore()
	if old == nil {
		return n.hostAbsence()
	}
	is := n.point.Host
	real := false
	for i := range is.NICs {
		real = real || is.NICs[i].Up && is.NICs[i].Kind != "virtual"
	}
	out := missing()
	for i := range is.NICs {
		c := &is.NICs[i]
		if was := nicIn(old, i, c.Name); was != nil && (!real || c.Kind != "virtual") {
			out = larger(out, of(was, c, seconds))
		}
	}
	return out
}

func nicIn(h *probes.Host, i int, name string) *probes.NIC {
	if i < len(h.NICs) && h.NICs[i].Name == name {
		return &h.NICs[i]
	}
	for i := range h.NICs {
		if h.NICs[i].Name == name {
			return &h.NICs[i]
		}
	}
	return nil
}
