package rules

import (
	"reflect"
	"testing"
	"time"
)

func bookOf(effects map[string][]string) []*Rule {
	var out []*Rule
	for _, id := range sortedKeys(effects) {
		out = append(out, &Rule{ID: id, Effects: effects[id]})
	}
	return out
}

func causesOf(ids ...string) []Cause {
	var out []Cause
	for _, id := range ids {
		out = append(out, Cause{ID: id, Effects: []string{}})
	}
	return out
}

// TestRootStaysOnTop: neither an effect nor a later cause displaces the root; one
// that suppress puts in its place does.
func TestRootStaysOnTop(t *testing.T) {
	rules := bookOf(map[string][]string{"long-prefill": {"queue"}, "queue": nil, "heat": nil, "neighbour": {"long-prefill"}})
	var e episode
	for _, c := range []struct {
		name          string
		found         []Cause
		want, effects []string
	}{
		{"the first becomes the root", causesOf("long-prefill"), []string{"long-prefill"}, []string{}},
		{"its effect scores higher", causesOf("queue", "long-prefill"), []string{"long-prefill"}, []string{"queue"}},
		{"another cause scores higher", causesOf("heat", "long-prefill"), []string{"long-prefill", "heat"}, []string{}},
		{"nothing for a moment", nil, nil, nil},
		{"the root is another's effect", causesOf("neighbour"), []string{"neighbour"}, []string{}},
		{"and the new root stays", causesOf("queue", "neighbour"), []string{"neighbour", "queue"}, []string{}},
	} {
		got := e.order(c.found, rules)
		var ids []string
		for _, x := range got {
			ids = append(ids, x.ID)
		}
		if !reflect.DeepEqual(ids, c.want) || (len(got) > 0 && !reflect.DeepEqual(got[0].Effects, c.effects)) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestRootIsGivenUpWhenRefutedForLong: a look-alike must hold for refuteHold.
func TestRootIsGivenUpWhenRefutedForLong(t *testing.T) {
	r := &Rule{ID: "a"}
	e := episode{root: r}
	refuted, fine := verdict{unless: yes}, verdict{unless: unknown}
	start := time.Unix(1000, 0)
	for i, c := range []struct {
		v    verdict
		kept bool
	}{{refuted, true}, {refuted, true}, {fine, true}, {refuted, true}, {refuted, true}, {refuted, true}, {refuted, true}, {refuted, false}} {
		e.observe(&Rule{ID: "b"}, refuted, start)
		e.observe(r, c.v, start.Add(time.Duration(i)*time.Second))
		if e.keeps(r) != c.kept {
			t.Fatalf("second %d: kept %v", i, !c.kept)
		}
	}
}
