package tokenizer

import (
	"strings"
	"testing"
)

// TestWords cuts texts by the rules of each pre-tokenizer, written down from its
// regular expression.
func TestWords(t *testing.T) {
	for _, c := range []struct{ pre, text, want string }{
		{"gpt-2", "Hello world's end", "Hello| world|'s| end"},
		{"gpt-2", "WE'LL we'll 'x", "WE|'|LL| we|'ll| '|x"},
		{"gpt-2", "a1234 56", "a|1234| 56"},
		{"gpt-2", "a  b   ", "a| | b|   "},
		{"gpt-2", "a\n\nb\r\n", "a|\n|\n|b|\r\n"},
		{"gpt-2", " !? x", " !?| x"},
		{"gpt-2", "é\u0301x", "é|\u0301|x"},
		{"llama-bpe", "Hello world's end", "Hello| world|'s| end"},
		{"llama-bpe", "WE'LL we'll 'x", "WE|'LL| we|'ll| '|x"},
		{"llama-bpe", "a1234 56", "a|123|4| |56"},
		{"llama-bpe", "\tx _y (z", "\tx| _|y| (|z"},
		{"llama-bpe", "!\n\n x", "!\n\n| x"},
		{"llama-bpe", "a \n \n  b", "a| \n \n| | b"},
		{"llama-bpe", "a \t", "a| \t"},
		{"llama-bpe", "\n\nA", "\n\n|A"},
		{"qwen2", "a1234 56", "a|1|2|3|4| |5|6"},
		{"qwen2", "it'S ok", "it|'S| ok"},
		{"smollm", "a 12 b", "a| |1|2| b"},
		{"default", "x=1, y", "x|=|1|,| y"},
		{"default", "it's 12345", "it|'|s| |123|45"},
	} {
		p, err := findPreTokenizer(c.pre)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		collect(&words, c.text, p.stages)
		if got := strings.Join(words, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.pre, got, c.want)
		}
	}
}

func collect(words *[]string, text string, stages []cutter) {
	if len(stages) == 0 {
		*words = append(*words, text)
		return
	}
	for text != "" {
		n := stages[0](text)
		collect(words, text[:n], stages[1:])
		text = text[n:]
	}
}

func TestDefaultBOS(t *testing.T) {
	for pre, want := range map[string]bool{"llama-bpe": true, "llama3": true, "smaug-bpe": false, "qwen2": false, "": false, "no such": false} {
		if DefaultBOS(pre) != want {
			t.Errorf("DefaultBOS(%q) = %v", pre, !want)
		}
	}
}
