package rules

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/goccy/go-yaml/ast"
	yamlparser "github.com/goccy/go-yaml/parser"
)

var ruleClasses = map[string]bool{"cause": true, "limit": true, "risk": true, "note": true}

var families = map[string]bool{"ttft": true, "tpot": true, "e2e": true, "step": true, refusedFamily: true}

// rule checks a rule's text and compiles its clauses.
func (t ruleText) rule(file string, line func(where string) int) (*Rule, error) {
	var errs []error
	bad := func(where, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s:%d: rule %s: %s", file, line(where), t.ID, fmt.Sprintf(format, args...)))
	}
	r := &Rule{ID: t.ID, Title: t.Title, Class: t.Class, Symptom: t.Symptom, Effects: t.Effects, Steps: t.Next, Source: t.Source, Delay: t.Delay, File: file}
	if r.Class == "" {
		r.Class = "cause"
	}
	if !isID(t.ID) {
		bad("id", "an id is lower-case words joined by -, got %q", t.ID)
	}
	if t.Title == "" {
		bad("id", "no title")
	}
	if !ruleClasses[r.Class] {
		bad("class", "unknown class %q", t.Class)
	}
	r.Needs = t.clauses("needs", t.Needs, bad)
	r.Support = t.clauses("supports", t.Support, bad)
	r.Unless = t.clauses("unless", t.Unless, bad)
	if len(r.Needs) == 0 {
		bad("id", "no needs")
	}
	if r.Class == "cause" || r.Class == "limit" {
		t.checkCause(bad)
	}
	sort.SliceStable(r.Steps, func(i, j int) bool { return r.Steps[i].CostClass < r.Steps[j].CostClass })
	return r, errors.Join(errs...)
}

func (t ruleText) checkCause(bad func(where, format string, args ...any)) {
	if len(t.Symptom) == 0 {
		bad("symptom", "a cause says which symptom it explains")
	}
	for _, f := range sortedKeys(t.Symptom) {
		if !families[f] {
			bad("symptom", "unknown symptom %q: ttft, tpot, e2e, step or refused", f)
		}
		for _, s := range t.Symptom[f] {
			if _, ok := partIndex(s); !ok && s != "any" {
				bad("symptom", "unknown stage %q", s)
			}
		}
	}
	if len(t.Next) == 0 {
		bad("next", "no next step")
	}
	for i, s := range t.Next {
		if s.Unless != "" {
			var err error
			if t.Next[i].unless, err = ParseClause(s.Unless); err != nil {
				bad("next", "unless: %v", err)
			}
		}
		if s.Step == "" || s.Price == "" || s.CostClass < 1 || s.CostClass > 3 {
			bad("next", "a step has a step, a price and a cost_class of 1, 2 or 3")
		}
	}
	if t.Source == "" {
		bad("source", "no source")
	}
	if t.Delay != "fast" && t.Delay != "slow" {
		bad("delay_class", "delay_class is fast or slow, got %q", t.Delay)
	}
}

func (t ruleText) clauses(where string, texts []clauseText, bad func(where, format string, args ...any)) []RuleClause {
	var out []RuleClause
	for i, c := range texts {
		compiled, err := ParseClause(c.Clause)
		if err != nil {
			bad(fmt.Sprintf("%s.%d", where, i), "%s: %v", where, err)
			continue
		}
		rc := RuleClause{Clause: compiled, Names: c.Names, Kind: c.Kind}
		if rc.Kind == "" {
			rc.Kind = kindOf(compiled.root)
		}
		out = append(out, rc)
	}
	return out
}

// kindOf is the kind of evidence of the first number in a clause.
func kindOf(n *node) string {
	kind := ""
	n.walk(func(n *node) {
		switch {
		case kind != "":
		case n.kind == callNode && n.op == "added":
			kind = "stage"
		case n.kind == signalNode:
			kind = table[n.sig].Kind
		}
	})
	return kind
}

func isID(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, "-") && !strings.HasSuffix(s, "-") && len(s) <= 64
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// UnmarshalYAML lets a clause be written as plain text, or as a mapping with names or kind.
func (c *clauseText) UnmarshalYAML(unmarshal func(any) error) error {
	var s string
	if unmarshal(&s) == nil {
		c.Clause = s
		return nil
	}
	type plain clauseText
	return unmarshal((*plain)(c))
}

// locator finds the line of a part of a rule in its file.
type locator struct{ root ast.Node }

func newLocator(text []byte) locator {
	f, err := yamlparser.ParseBytes(text, 0)
	if err != nil || len(f.Docs) == 0 {
		return locator{}
	}
	return locator{f.Docs[0].Body}
}

// line is that of "id" or "needs.2" in rule i, else the rule's, else 1.
func (l locator) line(i int, where string) int {
	list, ok := l.root.(*ast.SequenceNode)
	if !ok || i >= len(list.Values) {
		return 1
	}
	at := list.Values[i]
	line := at.GetToken().Position.Line
	key, index, _ := strings.Cut(where, ".")
	m, ok := at.(*ast.MappingNode)
	if !ok {
		return line
	}
	for _, v := range m.Values {
		if v.Key.GetToken().Value != key {
			continue
		}
		line = v.Key.GetToken().Position.Line
		var j int
		if list, ok := v.Value.(*ast.SequenceNode); ok {
			if _, err := fmt.Sscan(index, &j); err == nil && j < len(list.Values) {
				line = list.Values[j].GetToken().Position.Line
			}
		}
	}
	return line
}
