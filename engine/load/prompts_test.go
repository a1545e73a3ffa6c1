package load

import (
	"math"
	"strings"
	"testing"
)

func TestPromptLength(t *testing.T) {
	for _, c := range []Config{{PromptTokens: 100}, {PromptTokens: 600}, {PromptTokens: 1500, PromptSpread: .3}, {PromptTokens: 8000}} {
		p := newPrompter(c)
		sum := 0
		const n = 200
		for i := range uint64(n) {
			text := p.prompt(i)
			tokens := float64(len(text)) / charsPerToken
			if slack := 20 + c.PromptSpread*float64(c.PromptTokens); math.Abs(tokens-float64(c.PromptTokens)) > slack {
				t.Fatalf("%d tokens asked for, prompt %d has about %.0f", c.PromptTokens, i, tokens)
			}
			sum += len(text)
		}
		if mean := float64(sum) / charsPerToken / n; math.Abs(mean/float64(c.PromptTokens)-1) > .08 {
			t.Errorf("%d tokens asked for, mean is about %.0f", c.PromptTokens, mean)
		}
	}
}

func TestPromptsReadAsEnglish(t *testing.T) {
	for _, c := range []Config{{}, {PromptTokens: 300}, {OutputTokens: 500}} {
		p := newPrompter(c)
		for i := range uint64(300) {
			text := p.prompt(i)
			if strings.ContainsAny(text, "[]{}|%") || strings.Contains(text, "  ") || strings.TrimSpace(text) != text || text == "" {
				t.Fatalf("prompt %d is not plain: %q", i, text)
			}
			if end := text[len(text)-1]; end != '?' && end != '.' {
				t.Fatalf("prompt %d ends in the middle: %q", i, text)
			}
		}
	}
}

func shared(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// A prefix cache must find nothing unless asked to: 16 tokens are a usual block.
func TestPromptsShareNoPrefix(t *testing.T) {
	p := newPrompter(Config{PromptTokens: 200})
	longest := 0
	var all []string
	for i := range uint64(300) {
		text := p.prompt(i)
		for _, other := range all {
			longest = max(longest, shared(text, other))
		}
		all = append(all, text)
	}
	if float64(longest) > 16*charsPerToken {
		t.Errorf("two prompts share %d characters", longest)
	}
}

func TestPromptsSharePrefixWhenAsked(t *testing.T) {
	p := newPrompter(Config{PromptTokens: 200, SharedPrefixTokens: 120})
	a, b := p.prompt(1), p.prompt(2)
	got := float64(shared(a, b)) / charsPerToken
	if math.Abs(got-120) > 20 {
		t.Errorf("two prompts share about %.0f tokens, want 120", got)
	}
	if total := float64(len(a)) / charsPerToken; math.Abs(total-200) > 25 {
		t.Errorf("the whole prompt has about %.0f tokens, want 200", total)
	}
}

// Of several shared texts each begins its part of the prompts, and they part at once.
func TestPromptsShareOneOfSeveral(t *testing.T) {
	p := newPrompter(Config{PromptTokens: 200, SharedPrefixTokens: 120, SharedPrefixes: 5})
	begin := map[string]int{}
	for i := range uint64(200) {
		begin[p.prompt(i)[:100]]++
	}
	if len(begin) != 5 {
		t.Errorf("%d beginnings, want 5", len(begin))
	}
	for text, n := range begin {
		if n < 20 || n > 60 {
			t.Errorf("%d of 200 prompts begin with %q, want about 40", n, text)
		}
	}
}

func TestGrammar(t *testing.T) {
	g := newPrompter(Config{}).grammar(1, 2)
	seen := map[string]bool{}
	for range 200 {
		seen[g.write("a[b|c[d|]|]e")] = true
	}
	for _, want := range []string{"abe", "acde", "ace", "ae"} {
		if !seen[want] {
			t.Errorf("never wrote %q, only %v", want, seen)
		}
	}
	if len(seen) != 4 {
		t.Errorf("wrote %v", seen)
	}
}
