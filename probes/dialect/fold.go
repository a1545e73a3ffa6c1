package dialect

import (
	"strings"

	"llmtop/probes"
)

// fold brings the spellings of one name together: Ray's re-export (a leading
// ray_), the colon that some exporters replace by an underscore, and the ending
// _total, which text and OpenMetrics exporters treat differently. vLLM has a
// histogram whose name ends in _total, so the type is left to the TYPE line.
func fold(name string, t probes.MetricType) string {
	name = strings.TrimPrefix(name, "ray_")
	name = strings.ReplaceAll(name, ":", "_")
	if t != probes.Gauge {
		name = strings.TrimSuffix(name, "_total")
	}
	return name
}

// toldType is what the TYPE line says of a series, where it can be relied on: Ray types
// counters as gauges too, before 2.10 and in 2.52 alone, else in a copy without _total.
func toldType(s *probes.Series) probes.MetricType {
	if s.Type == probes.Gauge && strings.HasPrefix(s.Name, "ray_") {
		return probes.Untyped
	}
	return s.Type
}
