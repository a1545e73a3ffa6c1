package engine

// Tokenizer is the vocabulary of a model. It is safe for concurrent use.
type Tokenizer interface {
	// Encode returns the tokens of a text, without the token of the beginning.
	// Only with special are control tokens in the text recognised; else they are plain text.
	Encode(text string, special bool) []int
	// Begin returns the tokens that every prompt begins with, none or one.
	Begin() []int
	// Bytes returns what a token stands for in a text; of a control token, which
	// stands for nothing, the name.
	Bytes(id int) []byte
	// IsStop reports whether a token ends an answer.
	IsStop(id int) bool
	// NewDecoder returns a decoder for one stream of tokens.
	NewDecoder() Decoder
}

// Decoder turns a stream of tokens into text, whole UTF-8 characters at a time.
type Decoder interface {
	Push(id int) string
	Flush() string
}
