package exposition

import (
	"bufio"
	"io"
	"strconv"

	"llmtop/probes"
)

var typeNames = map[probes.MetricType]string{
	probes.Counter: "counter", probes.Gauge: "gauge", probes.HistogramType: "histogram", probes.Summary: "summary",
}

func writeText(w io.Writer, schema *probes.Schema, values []float64) error {
	b := bufio.NewWriter(w)
	family := ""
	for i := range schema.Series {
		s := &schema.Series[i]
		if t := typeNames[s.Type]; s.Family != family && t != "" {
			b.WriteString("# TYPE " + s.Family + " " + t + "\n")
		}
		family = s.Family
		b.WriteString(s.Key() + " " + strconv.FormatFloat(values[i], 'g', -1, 64) + "\n")
	}
	return b.Flush()
}
