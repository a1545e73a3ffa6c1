package host

import (
	"bytes"

	"llmtop/probes"
)

// fillTCP reads the counters of TCP over IPv4 and IPv6 (RFC 4022) and Linux's own, of the
// network namespace that llmtop runs in. file reads one of the machine's files.
func fillTCP(s *probes.Host, file func(string) ([]byte, error)) {
	text, err := file("proc/net/snmp")
	s.TCPSegmentsTotal = column(text, err, "Tcp:", "OutSegs")
	s.TCPRetransmitsTotal = column(text, err, "Tcp:", "RetransSegs")
	text, err = file("proc/net/netstat")
	s.TCPListenOverflowsTotal = column(text, err, "TcpExt:", "ListenOverflows")
}

// column finds a number in a file, read with err, that has for each table a line of names
// and a line of numbers, each begun by the table's name.
func column(text []byte, err error, table, name string) probes.Opt[float64] {
	if err != nil {
		return probes.None[float64](why(err))
	}
	var names []byte
	for len(text) > 0 {
		var line []byte
		line, text = nextLine(text)
		row, ok := bytes.CutPrefix(line, []byte(table+" "))
		switch {
		case !ok:
		case names == nil:
			names = row
		default:
			return under(names, row, name)
		}
	}
	return probes.None[float64](probes.NotExposed)
}

// under is the number that stands where the name stands in the line of names.
func under(names, numbers []byte, name string) probes.Opt[float64] {
	for len(names) > 0 && len(numbers) > 0 {
		var column, number []byte
		column, names, _ = bytes.Cut(names, []byte(" "))
		number, numbers, _ = bytes.Cut(numbers, []byte(" "))
		if string(column) == name {
			return reading(number, 1)
		}
	}
	return probes.None[float64](probes.NotExposed)
}
