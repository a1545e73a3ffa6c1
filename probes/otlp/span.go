package otlp

import "llmtop/probes"

type (
	traceID [16]byte
	spanID  [8]byte
)

// engine is who sent a span.
type engine uint8

const (
	noEngine engine = iota
	vllm
	sglang
	tgi
	dynamo
)

// role is what a span is good for.
type role uint8

const (
	ignored role = iota
	request      // stands for a whole request
	half         // of a request that two engines share, the first one's part
	stage        // is a stage of a request, or a piece of one
	link         // leads from a stage to its request
)

// span is what is kept of one span.
type span struct {
	trace      traceID
	id, parent spanID
	start, end int64 // ns since 1970
	failed     bool  // its status is an error
	engine     engine
	role       role
	piece      piece // with role stage
	facts      *facts
}

// piece is a stage, and what of it a span is.
type piece struct {
	stage probes.Stage
	kind  pieceKind
}

type pieceKind uint8

const (
	whole    pieceKind = iota
	part               // one of many: a chunk, a step
	handover           // from one engine to another
	numPieceKinds
)

// fact is a number that an attribute tells.
type fact uint8

const (
	factQueue fact = iota // seconds
	factTTFT
	factE2E
	factPrefill
	factDecode
	factInference
	factValidation
	factTotal
	factPerToken
	factITL
	factPrompt // tokens
	factCached
	factOutput
	factRequest // told at all: marks of engines, without a number
	factThread
	numFacts
)

// facts are the attributes of a span that are in the tables.
type facts struct {
	told   [numFacts]bool
	number [numFacts]float64
	id     string // of the request, hashed
	finish string
}

// get is a number, ok when it was told.
func (f *facts) get(x fact) (float64, bool) {
	if f == nil || !f.told[x] {
		return 0, false
	}
	return f.number[x], true
}

// all reports that all of these were told.
func (f *facts) all(which ...fact) bool {
	for _, x := range which {
		if _, ok := f.get(x); !ok {
			return false
		}
	}
	return true
}

func (f *facts) or(x fact, otherwise float64) float64 {
	if v, ok := f.get(x); ok {
		return v
	}
	return otherwise
}

// recognize says what a span is, by its name and its facts; both were bounded before.
func (s *span) recognize(name string) {
	for _, is := range [...]func(*span, string) bool{isVLLM, isDynamo, isTGI, isSGLang} {
		if is(s, name) {
			return
		}
	}
}
