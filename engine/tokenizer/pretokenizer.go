package tokenizer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// preTokenizer cuts text into words, which merges stay inside of. The models'
// authors give regular expressions with lookahead; the cutters are those, written
// out. Each looks at a character at most twice.
type preTokenizer struct {
	names      []string // GGUF's; the first one is the usual one
	stages     []cutter // each cuts what the one before has left
	wholeWords bool     // a word that is a token becomes it, whatever the merges say
	addBOS     bool     // where the file does not say
}

// cutter is the length of the first word of a text that is not empty.
type cutter func(text string) int

// preTokenizers are those known; the names that share a way of cutting are those of
// llama.cpp (src/llama-vocab.cpp), whose words these are.
func preTokenizers() []preTokenizer {
	return []preTokenizer{
		{names: []string{"gpt-2", "phi-2", "gigachat", "a.x-4.0", "mellum", "exaone4", "mpt", "olmo", "jais", "trillion", "granite-docling"},
			stages: []cutter{gpt2Word}},
		{names: []string{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
			stages: []cutter{llama3Word}, wholeWords: true, addBOS: true},
		{names: []string{"smaug-bpe", "dbrx"}, stages: []cutter{llama3Word}},
		{names: []string{"qwen2", "deepseek-r1-qwen", "kormo", "megrez", "stablelm2", "hunyuan", "solar-open"},
			stages: []cutter{qwen2Word}},
		{names: []string{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"},
			stages: []cutter{eachNumber, gpt2Word}},
		{names: []string{"default", ""}, stages: []cutter{punctuation, gpt2Word, numbers, threeDigits}},
	}
}

// findPreTokenizer returns the one with a name.
func findPreTokenizer(name string) (preTokenizer, error) {
	var known []string
	for _, p := range preTokenizers() {
		if slices.Contains(p.names, name) {
			return p, nil
		}
		known = append(known, p.names[0])
	}
	return preTokenizer{}, fmt.Errorf("pre-tokenizer %q is not known (known are %s)", cut(name, 64), strings.Join(known, ", "))
}

// cut shortens outside text for an error message.
func cut(s string, most int) string {
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// DefaultBOS is whether prompts start with BOS for a byte-level vocabulary whose
// file does not say (GGUF: tokenizer.ggml.add_bos_token), by its pre-tokenizer.
func DefaultBOS(pre string) bool {
	p, err := findPreTokenizer(pre)
	return err == nil && p.addBOS
}

// gpt2Word is GPT-2's
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gpt2Word(text string) int {
	if n := contraction(text, false); n > 0 {
		return n
	}
	from := 0
	c, _ := classAt(text)
	if text[0] == ' ' {
		if next, _ := classAt(text[1:]); next != end && next != space {
			from, c = 1, next
		}
	}
	if c != space {
		return run(text, from, c)
	}
	return spaces(text)
}

func llama3Word(text string) int { return tiktokenWord(text, 3) }
func qwen2Word(text string) int  { return tiktokenWord(text, 1) }

// tiktokenWord is the cl100k pattern of tiktoken, with at most so many digits in a word:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func tiktokenWord(text string, digits int) int {
	if n := contraction(text, true); n > 0 {
		return n
	}
	c, size := classAt(text)
	next, _ := classAt(text[size:])
	switch {
	case c == letter:
		return run(text, size, letter)
	case c == number:
		return upTo(text, digits)
	case next == letter && !newline(text[0]):
		return run(text, size, letter)
	case c == other:
		return newlines(text, run(text, size, other))
	case next == other && text[0] == ' ':
		return newlines(text, run(text, 1, other))
	}
	if n := throughNewline(text); n > 0 {
		return n
	}
	return spaces(text)
}

// contraction is the length of an English ending such as 'll that text begins with, 0 if there is none.
func contraction(text string, anyCase bool) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	at := func(i int) byte {
		if i >= len(text) {
			return 0
		}
		if b := text[i]; anyCase && b >= 'A' && b <= 'Z' {
			return b | 0x20
		}
		return text[i]
	}
	switch at(1) {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if at(2) == 'e' {
			return 3
		}
	case 'l':
		if at(2) == 'l' {
			return 3
		}
	}
	return 0
}

// upTo is the end of the first numbers of text, at most n characters.
func upTo(text string, n int) (at int) {
	for range n {
		c, size := classAt(text[at:])
		if c != number {
			break
		}
		at += size
	}
	return at
}

// newlines is where the line ends are over that follow at a position.
func newlines(text string, at int) int {
	for at < len(text) && newline(text[at]) {
		at++
	}
	return at
}

// throughNewline is \s*[\r\n]+: the spaces of text through the last line end among them, 0 if there is none.
func throughNewline(text string) (last int) {
	for at := 0; ; {
		c, size := classAt(text[at:])
		if c != space {
			return last
		}
		if newline(text[at]) {
			last = at + 1
		}
		at += size
	}
}

// spaces is \s+(?!\S)|\s+: the spaces of text, but for the last one where a word follows.
func spaces(text string) int {
	at, before := 0, 0
	for {
		c, size := classAt(text[at:])
		if c == end || c != space && before == 0 {
			return at
		}
		if c != space {
			return before
		}
		at, before = at+size, at
	}
}

// punctuation is [\p{P}$+<=>^~|]+, or what lies before it.
func punctuation(text string) int {
	return apart(text, func(rest string) int {
		at := 0
		for at < len(rest) {
			r, size := utf8.DecodeRuneInString(rest[at:])
			if !unicode.IsPunct(r) && !strings.ContainsRune("$+<=>^~|", r) {
				break
			}
			at += size
		}
		return at
	})
}

// numbers is \p{N}+, or what lies before it.
func numbers(text string) int {
	return apart(text, func(rest string) int { return run(rest, 0, number) })
}

// eachNumber is \p{N}, or what lies before it.
func eachNumber(text string) int {
	return apart(text, func(rest string) int { return upTo(rest, 1) })
}

// threeDigits is [0-9][0-9][0-9], or what lies before it.
func threeDigits(text string) int {
	return apart(text, func(rest string) int {
		for i := range 3 {
			if i >= len(rest) || rest[i] < '0' || rest[i] > '9' {
				return 0
			}
		}
		return 3
	})
}

// apart is the length of the match that text begins with, or of what lies before the next one.
func apart(text string, match func(rest string) int) int {
	for at := 0; at < len(text); {
		if n := match(text[at:]); n > 0 {
			if at > 0 {
				return at
			}
			return n
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return len(text)
}
