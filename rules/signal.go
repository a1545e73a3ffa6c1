package rules

import (
	"strings"

	"llmtop/probes"
)

// Signals holds the value of every signal of the table at one tick, in the
// table's order.
type Signals []probes.Opt[float64]

// Get returns a signal by name. A name that is not in the table is missing (NotExposed).
func (s Signals) Get(name string) probes.Opt[float64] {
	i, ok := tableIndex[name]
	if !ok || i >= len(s) {
		return probes.None[float64](probes.NotExposed)
	}
	return s[i]
}

// at returns the signal of a row of the table.
func (s Signals) at(row int) probes.Opt[float64] { return s[row] }

// Signal is a documented number computed from a window of samples.
type Signal struct {
	Name    string  // dotted, fixed for ever: rules, screens, scripts and exports use it
	Title   string  // for people, without the unit: "TTFT p95"
	Unit    string  // s, 1/s, ratio, tokens, count, cores, bytes, bytes/s, W, °C, s/token
	Formula string  // what is computed, in words
	Source  string  // where it comes from
	Needs   string  // sections without which it is missing
	Export  string  // Prometheus series
	Kind    string  // kind of evidence: latency, stage, engine, instance, load, host, process, neighbour, socket, profile, gpu, log, canary, config, self
	Step    float64 // the smallest change that matters, in Unit; less is flat whatever the ratio [proposal]

	at     func(*now) probes.Opt[float64]
	bucket func(*now) Bucket // of what a histogram tells: all that is really known; nil for other signals
}

// Table returns every signal, in the order of Signals.
func Table() []Signal { return append([]Signal(nil), table...) }

// Lookup returns the signal with that name.
func Lookup(name string) (Signal, bool) {
	i, ok := tableIndex[name]
	if !ok {
		return Signal{}, false
	}
	return table[i], true
}

// table is the registry: one slice of rows a family, in the order of the screens.
var table = join(latencyRows(), loadRows(), engineRows(), specRows(), instanceRows(), stageRows(), hostRows(), memoryRows(), diskRows(), networkRows(),
	processRows(), cgroupRows(), threadRows(), neighbourRows(), socketRows(), profileRows(), gpuRows(), gpuActivityRows(), throttleRows(), gpuHealthRows(), gpuSharingRows(),
	logRows(), selfRows(), canaryRows(), configRows())

var tableIndex = indexOf(table)

func join(families ...[]Signal) []Signal {
	var all []Signal
	for _, f := range families {
		all = append(all, f...)
	}
	return all
}

func indexOf(rows []Signal) map[string]int {
	index := make(map[string]int, len(rows))
	for i, r := range rows {
		index[r.Name] = i
	}
	return index
}

// compute evaluates the whole table at one tick.
func compute(n *now) Signals {
	s := make(Signals, len(table))
	for i := range table {
		s[i] = table[i].at(n)
	}
	return s
}

// missing is a reading nobody has, NotSeen.
func missing() probes.Opt[float64] { return probes.Opt[float64]{} }

// suffixes are how export names end, by unit.
var suffixes = map[string]string{"s": "_seconds", "1/s": "_per_second", "ratio": "_ratio", "tokens": "_tokens",
	"cores": "_cores", "bytes": "_bytes", "bytes/s": "_bytes_per_second", "W": "_watts", "°C": "_celsius", "s/token": "_seconds_per_token"}

// Series is the signal's export name in its two parts: the metric family and its labels,
// as they stand between the braces.
func (s Signal) Series() (family, labels string) {
	family, labels, _ = strings.Cut(s.Export, "{")
	return family, strings.TrimSuffix(labels, "}")
}

// ExportUnit is the unit as export names spell it ("seconds"), "" for counts.
func (s Signal) ExportUnit() string { return strings.TrimPrefix(suffixes[s.Unit], "_") }

// exportName is a signal's Prometheus series: llmtop_ttft_seconds{quantile="0.95"}.
func exportName(base, unit, labels string) string {
	suffix := suffixes[unit]
	name := "llmtop_" + strings.ReplaceAll(base, ".", "_")
	if !strings.HasSuffix(name, suffix) {
		name += suffix
	}
	if labels != "" {
		name += "{" + labels + "}"
	}
	return name
}
