package judge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/truth"
	"llmtop/probes"
	"llmtop/probes/record"
	"llmtop/rules"
)

// Options of a judgement; the zero value judges by the rule book that is shipped and by the
// tree that was fitted.
type Options struct {
	Book          *rules.Book
	Tree          *TreeModel
	FeaturesEvery time.Duration // tells the features so often, 0: never
	FeaturesAt    []time.Time   // and at the first sample not before each of these, in order
}

// checkEvery is how many ticks that are not healthy lie between two looks at what is shown,
// beside those at each change of the verdict.
const checkEvery = 10

// judge is one of those who judge by signals alone.
type judge interface {
	verdict(at time.Time, s rules.Signals) drill.Verdict
}

// Recording judges a recording. An error says what could not be read; a recording that is
// damaged is judged without what is lost.
func Recording(ctx context.Context, path string, o Options) (drill.Judged, error) {
	b, err := newBench(o)
	if err != nil {
		return drill.Judged{}, err
	}
	r, err := record.Open(path)
	if err != nil {
		return drill.Judged{}, fmt.Errorf("opening the recording: %w", err)
	}
	defer r.Close()
	for {
		s, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return b.judged, nil
		}
		if err != nil {
			return drill.Judged{}, fmt.Errorf("reading the recording: %w", err)
		}
		b.sample(s)
	}
}

// shipped is the rule book inside the binary, read once.
var shipped = sync.OnceValues(rules.DefaultBook)

// bench is one recording being judged.
type bench struct {
	options   Options
	diagnoser *rules.Diagnoser
	checker   *truth.Checker
	vector    *vector
	others    map[string]judge // the baselines
	judged    drill.Judged
	ill       int // ticks that are not healthy since the last look at what is shown
	told      time.Time
}

func newBench(o Options) (*bench, error) {
	var err error
	if o.Book == nil {
		if o.Book, err = shipped(); err != nil {
			return nil, fmt.Errorf("loading the rule book: %w", err)
		}
	}
	if o.Tree == nil {
		if o.Tree, err = fitted(); err != nil {
			return nil, err
		}
	}
	b := &bench{options: o, diagnoser: rules.NewDiagnoser(o.Book, rules.Options{}), checker: truth.New(), vector: newVector()}
	b.others = map[string]judge{drill.Thresholds: thresholds{}, drill.Sigmas: newSigmas(), drill.Tree: newTreeJudge(o.Tree, b.vector)}
	b.judged = drill.Judged{Verdicts: map[string][]drill.Verdict{}, Untrue: []string{}}
	for _, who := range drill.Judges {
		b.judged.Verdicts[who] = []drill.Verdict{}
	}
	return b, nil
}

func (b *bench) sample(s *probes.Sample) {
	tick := b.diagnoser.Observe(s)
	b.judged.Ticks++
	b.checker.Observe(s, &tick.Diagnosis)
	b.check(&tick.Diagnosis, b.say(drill.Product, ofProduct(&tick.Diagnosis)))
	b.vector.observe(s.At, tick.Signals)
	for who, j := range b.others { // each says its own
		b.say(who, j.verdict(s.At, tick.Signals))
	}
	b.features(s.At, tick.Signals)
}

// say keeps a verdict that is another than before.
func (b *bench) say(who string, v drill.Verdict) (changed bool) {
	before := b.judged.Verdicts[who]
	if n := len(before); n > 0 && alike(&before[n-1], &v) {
		return false
	}
	b.judged.Verdicts[who] = append(before, v)
	return true
}

func alike(a, b *drill.Verdict) bool {
	return a.State == b.State && a.Stage == b.Stage && slices.Equal(a.Causes, b.Causes) && slices.Equal(a.Limits, b.Limits) &&
		slices.Equal(a.Says, b.Says) && slices.Equal(a.Lacks, b.Lacks)
}

// check holds what is shown against the samples, at each change and now and then.
func (b *bench) check(d *rules.Diagnosis, changed bool) {
	if d.State != rules.Healthy {
		b.ill++
	}
	if !changed && b.ill < checkEvery {
		return
	}
	b.ill = 0
	shown, untrue := b.checker.Check(d)
	b.judged.Shown += shown
	b.judged.Untrue = append(b.judged.Untrue, untrue...)
}

// features tells the vector where it was asked for.
func (b *bench) features(at time.Time, s rules.Signals) {
	wanted := b.options.FeaturesEvery > 0 && (b.told.IsZero() || at.Sub(b.told) >= b.options.FeaturesEvery)
	if wanted {
		b.told = at
	}
	for len(b.options.FeaturesAt) > 0 && !at.Before(b.options.FeaturesAt[0]) {
		b.options.FeaturesAt, wanted = b.options.FeaturesAt[1:], true
	}
	if wanted && b.vector.ready() {
		b.judged.Features = append(b.judged.Features, drill.Feature{At: at, Values: b.vector.values(s)})
	}
}
