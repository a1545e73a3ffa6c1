package engine

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNgram(t *testing.T) {
	for _, c := range []struct {
		name   string
		tokens []int
		n      int
		want   []int
	}{
		{"nothing said before", []int{1, 2, 3, 4}, 4, nil},
		{"one token alone says nothing", []int{1, 2, 3, 2}, 4, nil},
		{"goes on as before", []int{1, 2, 3, 4, 5, 1, 2}, 3, []int{3, 4, 5}},
		{"the longer run wins", []int{9, 1, 2, 3, 7, 7, 2, 3, 8, 8, 1, 2, 3}, 2, []int{7, 7}},
		{"the latest of equals", []int{1, 2, 7, 1, 2, 8, 1, 2}, 1, []int{8}},
		{"over the end", []int{5, 1, 2, 3, 1, 2}, 5, []int{3, 1, 2, 3, 1}},
		{"one token for ever", []int{4, 4, 4}, 4, []int{4, 4, 4, 4}},
		{"too short", []int{1}, 4, nil},
		{"empty", nil, 4, nil},
	} {
		if got := repeat(nil, c.tokens, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The lookup finds what trying all lengths and places finds.
func TestNgramLookup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfN(rapid.IntRange(0, 2), 0, 30).Draw(t, "tokens")
		if got, want := followed(tokens), followedSlowly(tokens); got != want {
			t.Fatalf("%v: position %d, want %d", tokens, got, want)
		}
	})
}

func followedSlowly(tokens []int) int {
	for n := maxNgram; n >= minNgram; n-- {
		for end := len(tokens) - 1; end >= n; end-- {
			if slices.Equal(tokens[end-n:end], tokens[len(tokens)-n:]) {
				return end
			}
		}
	}
	return 0
}

// Prompts and chunks without room get no guesses; the room is not exceeded.
func TestNgramRoom(t *testing.T) {
	p := &ngramProposer{}
	q := &Sequence{Prompt: []int{1, 2, 3, 1, 2}, Output: []int{3, 1, 2}}
	for range 2 {
		got, err := p.Propose([]Item{{Seq: q, Start: 0, Tokens: 2}, {Seq: q, Start: 7, Tokens: 1, Drafts: 2}})
		if err != nil || len(got) != 2 || len(got[0]) != 0 || !slices.Equal(got[1], []int{3, 1}) {
			t.Fatalf("%v, %v", got, err)
		}
	}
}

// BenchmarkNgram is the worst case: a long text in which nothing repeats.
func BenchmarkNgram(b *testing.B) {
	q := &Sequence{Prompt: ascending(2048)}
	p := &ngramProposer{}
	for b.Loop() {
		if _, err := p.Propose([]Item{{Seq: q, Start: 2047, Tokens: 1, Drafts: 4}}); err != nil {
			b.Fatal(err)
		}
	}
}
