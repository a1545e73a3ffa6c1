package live

import (
	"strings"
	"unicode/utf8"

	"llmtop/engine"
)

// The vocabulary: control tokens, the placeholder words of answers, and a token for each
// sequence of one to four bytes, which bears them in its number. Four bytes is about what a
// token of a large vocabulary holds, so that texts become as many tokens as they would.
const (
	beginText = iota
	beginHeader
	endHeader
	endTurn
	firstWord
	tokenBytes = 4
	shortest   = 1 << 8 // the number of the first token that is bytes
	vocabSize  = shortest + tokenBytes<<32
)

// chatTemplate is how chats are written: Llama 3's marks.
const chatTemplate = "<|start_header_id|>assistant<|end_header_id|>\n\n<|eot_id|>"

var controls = [firstWord]string{
	beginText: "<|begin_of_text|>", beginHeader: "<|start_header_id|>", endHeader: "<|end_header_id|>", endTurn: "<|eot_id|>",
}

// placeholder is what every answer says, over and over.
var placeholder = strings.SplitAfter("This is placeholder text of a simulated engine : no model has computed it . ", " ")

// word is the token of the nth word of an answer.
func word(n int) int { return firstWord + n%len(placeholder) }

// Vocabulary is the placeholder tokenizer: any text becomes tokens and these become the same
// text again. How long it takes is Front's to say.
type Vocabulary struct{ front *front }

// Encode cuts a text into pieces of up to four bytes, between characters.
func (v Vocabulary) Encode(text string, special bool) []int {
	v.front.tokenize(len(text))
	ids := make([]int, 0, len(text)/tokenBytes*5/4+1)
	for special {
		at, control := nextControl(text)
		if control < 0 {
			break
		}
		ids = append(appendBytes(ids, text[:at]), control)
		text = text[at+len(controls[control]):]
	}
	return appendBytes(ids, text)
}

// opening is what every control token begins with.
const opening = "<|"

// nextControl finds the first control token that is written in a text; -1: none. What it has
// looked at it does not look at again, whatever the text: prompts of millions of marks come.
func nextControl(text string) (at, control int) {
	for {
		i := strings.Index(text[at:], opening)
		if i < 0 {
			return at, -1
		}
		at += i
		for c, mark := range controls {
			if strings.HasPrefix(text[at:], mark) {
				return at, c
			}
		}
		at += len(opening)
	}
}

func appendBytes(ids []int, text string) []int {
	for len(text) > 0 {
		n := min(tokenBytes, len(text))
		for k := n; k > 0 && n < len(text); k-- { // not within a character, where it is one
			if utf8.RuneStart(text[k]) {
				n = k
				break
			}
		}
		id := 0
		for i := range n {
			id = id<<8 | int(text[i])
		}
		ids = append(ids, shortest+(n-1)<<32+id)
		text = text[n:]
	}
	return ids
}

// Begin is the token that every prompt begins with.
func (v Vocabulary) Begin() []int { return []int{beginText} }

// Bytes is what a token stands for.
func (v Vocabulary) Bytes(id int) []byte {
	switch {
	case id < firstWord:
		return []byte(controls[max(0, id)])
	case id < firstWord+len(placeholder):
		return []byte(placeholder[id-firstWord])
	case id < shortest:
		return nil
	}
	n, bits := (id-shortest)>>32+1, id-shortest
	b := make([]byte, min(n, tokenBytes))
	for i := len(b) - 1; i >= 0; i-- {
		b[i], bits = byte(bits), bits>>8
	}
	return b
}

// IsStop reports whether a token ends an answer.
func (v Vocabulary) IsStop(id int) bool { return id == endTurn }

// NewDecoder returns a decoder for one answer.
func (v Vocabulary) NewDecoder() engine.Decoder { return decoder{v} }

type decoder struct{ v Vocabulary }

// Push is the text of a token. A token holds whole characters, unless the text had none.
func (d decoder) Push(id int) string {
	d.v.front.detokenize()
	if id >= firstWord && id < firstWord+len(placeholder) {
		return placeholder[id-firstWord]
	}
	if id < firstWord {
		return ""
	}
	return strings.ToValidUTF8(string(d.v.Bytes(id)), "�")
}

// Flush has nothing left.
func (d decoder) Flush() string { return "" }
