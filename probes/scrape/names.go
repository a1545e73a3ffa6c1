package scrape

import (
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"llmtop/probes"
)

// Bounds of one series.
const (
	maxLabels     = 64
	maxLabelBytes = 1024
	maxNameBytes  = 256
)

// maxKnownBytes bounds the texts of the identities remembered: 20000 series of a vLLM
// have about 4 MiB.
const maxKnownBytes = 16 << 20

// identity is a series without its type. It is made once and shared by all pages.
type identity struct {
	text   string // as it stands on the page, before the value
	name   string
	labels []probes.Label
}

// names knows the identities met so far by their text.
type names struct {
	max      int
	maxBytes int
	parser   expfmt.TextParser
	known    map[string]*identity
	bytes    int // of the texts in known
}

func newNames(limit int) names {
	return names{max: limit, maxBytes: maxKnownBytes, parser: expfmt.NewTextParser(model.LegacyValidation), known: map[string]*identity{}}
}

// trim forgets all when labels that never come back (request ids) have filled the table.
func (n *names) trim() {
	if len(n.known) > n.max || n.bytes > n.maxBytes {
		n.known, n.bytes = map[string]*identity{}, 0
	}
}

// sample parses one line; nil when it cannot be decoded.
func (n *names) sample(line []byte) (id *identity, value float64) {
	if len(line) > maxLine {
		return nil, 0
	}
	raw, value, ok := splitSample(line)
	if !ok {
		return nil, 0
	}
	if id, ok := n.known[string(raw)]; ok {
		return id, value
	}
	text := string(raw)
	if id = plain(text); id == nil {
		id = n.decode(text)
	}
	if id != nil {
		n.known[id.text] = id
		n.bytes += len(id.text)
	}
	return id, value
}

// decode lets expfmt take a series' name and labels apart. Without a TYPE line
// in sight it reads each series as an untyped one, which is the flat form wanted.
func (n *names) decode(text string) *identity {
	if quotes(text) > 2*maxLabels {
		return nil
	}
	parsed, err := n.parser.TextToMetricFamilies(strings.NewReader(strings.ToValidUTF8(text, "\ufffd") + " 0\n"))
	if err != nil || len(parsed) != 1 {
		return nil
	}
	for name, family := range parsed {
		if len(name) > maxNameBytes || len(family.Metric) != 1 || len(family.Metric[0].Label) > maxLabels {
			return nil
		}
		return &identity{text: text, name: name, labels: labels(family.Metric[0].Label)}
	}
	return nil
}

// quotes counts the quotes that are not part of a label's value: two a label.
func quotes(text string) (n int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			n++
		}
	}
	return n
}

// labels copies label pairs, cleaned and sorted by name.
func labels(pairs []*dto.LabelPair) []probes.Label {
	if len(pairs) == 0 {
		return nil
	}
	out := make([]probes.Label, 0, len(pairs))
	for _, l := range pairs {
		out = append(out, probes.Label{Name: l.GetName(), Value: probes.Printable(l.GetValue(), maxLabelBytes)})
	}
	slices.SortStableFunc(out, byName)
	return out
}
