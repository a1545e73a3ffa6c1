package rules

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed book/*.yaml
var embedded embed.FS

// maxBookFile bounds one rule file, bytes.
const maxBookFile = 1 << 20

// Book is a set of rules, ready to be evaluated. It is not changed after loading.
type Book struct {
	Rules []*Rule
}

// Rule is one cause, risk or note. See rules/book for examples of the text.
type Rule struct {
	ID      string
	Title   string
	Class   string              // cause (the default), limit, risk or note
	Symptom map[string][]string // family (ttft, tpot, e2e, step) → stages this cause lengthens; "any" for all
	Needs   []RuleClause        // all must hold
	Support []RuleClause        // each that holds makes the cause more likely
	Unless  []RuleClause        // none may hold
	Effects []string            // ids of rules that this cause brings about
	Steps   []Step              // cheapest first
	Source  string              // where the rule and its thresholds come from
	Delay   string              // delay_class: fast (seconds), slow (tens of seconds)
	File    string
}

// RuleClause is a clause in its rule.
type RuleClause struct {
	*Clause
	Names string // what holds if it holds: "power cap"
	Kind  string // kind of evidence
}

// Step is one thing to do; Commands are by engine, "any" for all. A step whose
// Unless holds is being done already and is left out.
type Step struct {
	Step      string            `yaml:"step"`
	Unless    string            `yaml:"unless"`
	Commands  map[string]string `yaml:"command"`
	Price     string            `yaml:"price"`
	CostClass int               `yaml:"cost_class"`
	unless    *Clause
}

// DefaultBook is the rule book inside the binary.
func DefaultBook() (*Book, error) {
	sub, err := fs.Sub(embedded, "book")
	if err != nil {
		return nil, fmt.Errorf("opening the rule book: %w", err)
	}
	return LoadBook(sub)
}

// LoadBook reads every *.yaml at the top of the file systems, in order of name.
// All errors are reported at once, each with file and line.
func LoadBook(dirs ...fs.FS) (*Book, error) {
	b := &Book{}
	var errs []error
	for _, dir := range dirs {
		names, err := fs.Glob(dir, "*.yaml")
		if err != nil {
			return nil, fmt.Errorf("listing rule files: %w", err)
		}
		sort.Strings(names)
		for _, name := range names {
			errs = append(errs, b.load(dir, name))
		}
	}
	errs = append(errs, b.check())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Book) load(dir fs.FS, name string) error {
	f, err := dir.Open(name)
	if err != nil {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBookFile+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if len(text) > maxBookFile {
		return fmt.Errorf("%s: larger than %d bytes", name, maxBookFile)
	}
	rules, err := ParseRules(path.Base(name), text)
	b.Rules = append(b.Rules, rules...)
	return err
}

// check looks for ids used twice and effects nobody has.
func (b *Book) check() error {
	known := map[string]bool{}
	var errs []error
	for _, r := range b.Rules {
		if known[r.ID] {
			errs = append(errs, fmt.Errorf("%s: rule %s appears twice", r.File, r.ID))
		}
		known[r.ID] = true
	}
	for _, r := range b.Rules {
		for _, e := range r.Effects {
			if !known[e] {
				errs = append(errs, fmt.Errorf("%s: rule %s: unknown effect %q", r.File, r.ID, e))
			}
		}
	}
	return errors.Join(errs...)
}

// text of a rule file, strictly.
type ruleText struct {
	ID      string              `yaml:"id"`
	Title   string              `yaml:"title"`
	Class   string              `yaml:"class"`
	Symptom map[string][]string `yaml:"symptom"`
	Needs   []clauseText        `yaml:"needs"`
	Support []clauseText        `yaml:"supports"`
	Unless  []clauseText        `yaml:"unless"`
	Effects []string            `yaml:"effects"`
	Next    []Step              `yaml:"next"`
	Source  string              `yaml:"source"`
	Delay   string              `yaml:"delay_class"`
}

type clauseText struct {
	Clause string `yaml:"clause"`
	Names  string `yaml:"names"`
	Kind   string `yaml:"kind"`
}

// ParseRules reads one rule file: a YAML list of rules. Errors carry file and line.
func ParseRules(file string, text []byte) (rules []*Rule, err error) {
	defer func() {
		if r := recover(); r != nil { // a file from outside in the hands of a foreign parser
			rules, err = nil, fmt.Errorf("%s: malformed YAML: %v", file, r)
		}
	}()
	var texts []ruleText
	if err := yaml.UnmarshalWithOptions(text, &texts, yaml.DisallowUnknownField()); err != nil {
		return nil, fmt.Errorf("%s: %s", file, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	lines := sync.OnceValue(func() locator { return newLocator(text) }) // only errors ask
	var out []*Rule
	var errs []error
	for i, t := range texts {
		r, err := t.rule(file, func(where string) int { return lines().line(i, where) })
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, r)
	}
	return out, errors.Join(errs...)
}
