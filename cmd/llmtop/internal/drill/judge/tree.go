package judge

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/rules"
)

// HealthyClass is the class of a sample with nothing wrong.
const HealthyClass = "healthy"

// TreeModel is a decision tree over features, as Fit makes it. Nodes[0] is the root.
type TreeModel struct {
	Samples int        `json:"samples"` // it was fitted on
	Nodes   []TreeNode `json:"nodes"`
}

// TreeNode is a question, or a leaf with what was found there.
type TreeNode struct {
	Feature string   `json:"feature,omitempty"` // "" at a leaf
	Below   *float64 `json:"below,omitempty"`   // ≤ goes left; absent: whatever is seen does
	Missing string   `json:"missing,omitempty"` // where it goes when it is missing: left or right
	Left    int      `json:"left,omitempty"`
	Right   int      `json:"right,omitempty"`
	Classes []string `json:"classes,omitempty"` // of a leaf, the most frequent first
}

//go:embed tree.json
var fittedText []byte

// fitted is the tree that comes along. It is not to be changed.
var fitted = sync.OnceValues(func() (*TreeModel, error) { return ReadTree(fittedText) })

// ReadTree reads a tree as JSON and checks that every question leads to nodes behind it, so
// that it ends.
func ReadTree(text []byte) (*TreeModel, error) {
	m := &TreeModel{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("reading the decision tree: %w", err)
	}
	if len(m.Nodes) == 0 {
		return nil, fmt.Errorf("reading the decision tree: it has no nodes")
	}
	for i, n := range m.Nodes {
		leads := n.Left > i && n.Left < len(m.Nodes) && n.Right > i && n.Right < len(m.Nodes)
		_, known := rules.Lookup(strings.TrimSuffix(n.Feature, against))
		if n.Feature == "" && len(n.Classes) == 0 || n.Feature != "" && (!leads || !known) {
			return nil, fmt.Errorf("reading the decision tree: node %d: no question and no answer", i)
		}
	}
	return m, nil
}

// Write writes a tree as ReadTree reads it, one node a line.
func (m *TreeModel) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\"samples\": %d, \"nodes\": [", m.Samples)
	for i, n := range m.Nodes {
		text, err := json.Marshal(n)
		if err != nil {
			return fmt.Errorf("writing the decision tree: %w", err)
		}
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, "\n%s", text)
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}

// Decide are the classes of the leaf that features lead to, the most frequent first.
func (m *TreeModel) Decide(value func(feature string) float64) []string {
	n := &m.Nodes[0]
	for n.Feature != "" {
		x, next := value(n.Feature), n.Right
		switch {
		case math.IsNaN(x):
			if n.Missing == "left" {
				next = n.Left
			}
		case n.Below == nil || x <= *n.Below:
			next = n.Left
		}
		n = &m.Nodes[next]
	}
	return n.Classes
}

// treeTicks is for how many ticks the tree must say the same before it counts.
const treeTicks = 3

// treeJudge asks the tree at every tick; the vector is kept by others.
type treeJudge struct {
	model    *TreeModel
	vector   *vector
	features map[string]feature
	said     []string // last
	times    int
	stands   []string
}

func newTreeJudge(m *TreeModel, v *vector) *treeJudge {
	t := &treeJudge{model: m, vector: v, features: map[string]feature{}}
	for _, n := range m.Nodes {
		if name, ratio := strings.CutSuffix(n.Feature, against); name != "" {
			t.features[n.Feature] = feature{rowOf(name), ratio}
		}
	}
	return t
}

func (t *treeJudge) verdict(at time.Time, s rules.Signals) drill.Verdict {
	v := drill.Verdict{At: at, State: string(rules.Healthy)}
	if !t.vector.ready() {
		return v
	}
	classes := t.model.Decide(func(name string) float64 { return t.vector.value(t.features[name], s) })
	if t.times++; !slices.Equal(classes, t.said) {
		t.said, t.times = classes, 1
	}
	if t.times >= treeTicks {
		t.stands = classes
	}
	if len(t.stands) == 0 || t.stands[0] == HealthyClass {
		return v
	}
	v.State = string(rules.Degraded)
	for _, c := range t.stands {
		if c != HealthyClass && len(v.Causes) < mostCauses {
			v.Causes = append(v.Causes, c)
		}
	}
	return v
}
