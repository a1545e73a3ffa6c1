package workload

import (
	"errors"
	"fmt"
	"time"
)

// Config says what requests come: those of streams, which know nothing of each other, those of
// a trace, or both. Without either it is chat at Rate.
type Config struct {
	Rate    float64  // requests per second, mean, of the streams that have a share of it and no rate of their own
	Streams []Stream // at most MaxStreams
	Trace   *Trace
	Speed   float64       // how many times as fast the trace comes; 0: 1
	Delay   time.Duration // when the trace begins

	Context int       // most tokens of a prompt and its answer; 0: 131072
	Spread  float64   // what a kind brings along varies by this part; what a stream states does not
	Start   time.Time // of the run: what time of day it is for a rate that follows the day
}

// Stream is one kind of requests. NewStream makes one as its kind has it.
type Stream struct {
	Kind     string  // one of Kinds
	Rate     float64 // requests per second, mean; 0: Share of the Config's
	Share    float64
	Arrivals Arrivals

	Prompt Length // of a prompt's own part: what is new in it
	Output Length

	Prefixes Prefixes

	Realtime   float64 // shares of the classes; the rest is normal
	Background float64
	Streamed   float64 // share of answers that are streamed
	Adapters   int     // LoRA adapters that are asked for; 0: none
	Guided     float64 // share of answers with a grammar
	Schemas    int     // different grammars
	Images     float64 // share of requests with an image
	Slow       float64 // share of clients that read slowly
	Bytes      float64 // of text for each token of the prompt
}

// Prefixes says what prompts share. A prompt is a system prompt, a document after it, the
// conversation so far, and its own part; each but the last may be absent.
type Prefixes struct {
	Systems   int     // different system prompts, few-shot examples and tool definitions among them
	System    Length  // of each
	Documents int     // different documents, files or templates that prompts go on with
	Document  Length  // of each
	Zipf      float64 // how much more popular the first ones are: weights rank^-Zipf
	Turns     float64 // of a conversation, mean; 1 or less: there are no conversations
	Think     float64 // seconds between two turns of a conversation, mean
}

// Bounds of what a Config may ask for.
const (
	MaxStreams = 16
	MaxRate    = 100_000   // requests per second
	MaxTokens  = 2_000_000 // of one prompt or answer
	maxContext = 131_072   // of a prompt with its answer, when nothing is said
	maxKinds   = 1_000_000 // system prompts, documents, grammars, adapters
)

// Check says what cannot be.
func (c *Config) Check() error {
	if len(c.Streams) > MaxStreams {
		return fmt.Errorf("%d workloads: there may be %d", len(c.Streams), MaxStreams)
	}
	if len(c.Streams) == 0 && c.Trace == nil && c.Rate == 0 {
		return errors.New("no request ever comes: there is no rate, no workload and no trace")
	}
	if err := checkRate("rate", c.Rate); err != nil {
		return err
	}
	if c.Speed < 0 || c.Speed > 1e6 {
		return fmt.Errorf("the trace ×%g: must be ×0.000001 to ×1000000", c.Speed)
	}
	total := 0.0
	for _, s := range c.resolved() {
		if err := s.check(); err != nil {
			return fmt.Errorf("workload %s: %w", s.Kind, err)
		}
		total += s.Rate
	}
	return checkRate("the rate of all workloads", total)
}

func checkRate(what string, rate float64) error {
	if !(rate >= 0 && rate <= MaxRate) {
		return fmt.Errorf("%s %g: must be above 0 and at most %d requests per second", what, rate, MaxRate)
	}
	return nil
}

// MeanRate is that of all streams, in requests per second, before a knob is turned.
func (c *Config) MeanRate() float64 {
	total := 0.0
	for _, s := range c.resolved() {
		total += s.Rate
	}
	return total
}

// resolved are the streams with the rate that each has.
func (c *Config) resolved() []Stream {
	streams := append([]Stream(nil), c.Streams...)
	if len(streams) == 0 && c.Trace == nil {
		streams = []Stream{Kinds[0].Stream}
	}
	shares := 0.0
	for i := range streams {
		if s := &streams[i]; s.Rate == 0 && s.Share == 0 {
			s.Share = 1
		}
		if streams[i].Rate == 0 {
			shares += streams[i].Share
		}
	}
	for i := range streams {
		if s := &streams[i]; s.Rate == 0 {
			s.Rate = c.Rate * s.Share / shares
		}
	}
	return streams
}

// check says what of a stream cannot be.
func (s *Stream) check() error {
	if _, err := kindOf(s.Kind); err != nil {
		return err
	}
	if s.Prompt.Shape == "" || s.Output.Shape == "" {
		return errors.New("nothing is said of how long prompts and answers are")
	}
	if s.Rate == 0 {
		return errors.New("it has no rate: give it one (rate=5), or all of them together (rate 5)")
	}
	if err := s.consistent(); err != nil {
		return err
	}
	return checkRate("rate", s.Rate)
}
