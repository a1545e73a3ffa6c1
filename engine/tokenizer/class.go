package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// class is what a pre-tokenizer sees of a character: \p{L}, \p{N}, \s or none of them.
type class uint8

const (
	other class = iota
	letter
	number
	space
	end // of the text
)

// classAt is the class of the first character of text, and its size in bytes. A
// byte that is not UTF-8 is a character of its own.
func classAt(text string) (c class, size int) {
	if text == "" {
		return end, 0
	}
	if b := text[0]; b < utf8.RuneSelf {
		return asciiClass(b), 1
	}
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case unicode.IsLetter(r):
		return letter, size
	case unicode.IsNumber(r):
		return number, size
	case unicode.IsSpace(r):
		return space, size
	}
	return other, size
}

func asciiClass(b byte) class {
	switch {
	case b|0x20 >= 'a' && b|0x20 <= 'z':
		return letter
	case b >= '0' && b <= '9':
		return number
	case b == ' ' || b >= '\t' && b <= '\r':
		return space
	}
	return other
}

// run is where the characters of class c end that text[from:] begins with.
func run(text string, from int, c class) int {
	for {
		k, size := classAt(text[from:])
		if k != c {
			return from
		}
		from += size
	}
}

func newline(b byte) bool { return b == '\r' || b == '\n' }
