package exposition

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"llmtop/probes"
)

var typeNames = map[probes.MetricType]string{
	probes.Counter: "counter", probes.Gauge: "gauge", probes.HistogramType: "histogram", probes.Summary: "summary",
}

// escapes are those of a label's value.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func writeText(w io.Writer, schema *probes.Schema, values []float64) error {
	b := bufio.NewWriter(w)
	family := ""
	var line []byte
	for i := range schema.Series {
		s := &schema.Series[i]
		line = line[:0]
		if t := typeNames[s.Type]; s.Family != family && t != "" {
			line = append(line, "# TYPE "+s.Family+" "+t+"\n"...)
		}
		family = s.Family
		line = appendKey(line, s)
		line = append(line, ' ')
		line = strconv.AppendFloat(line, values[i], 'g', -1, 64)
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

// appendKey appends the name of a series and its labels.
func appendKey(line []byte, s *probes.Series) []byte {
	line = append(line, s.Name...)
	for i, l := range s.Labels {
		if i == 0 {
			line = append(line, '{')
		} else {
			line = append(line, ',')
		}
		line = append(append(append(line, l.Name...), `="`...), escapes.Replace(l.Value)...)
		line = append(line, '"')
	}
	if len(s.Labels) > 0 {
		line = append(line, '}')
	}
	return line
}
