package engine

import (
	"encoding/json"
	"math/rand/v2"
)

// params are the parameters that both kinds of generation share.
type params struct {
	Model         string          `json:"model"`
	MaxTokens     *int            `json:"max_tokens"`
	Temperature   *float64        `json:"temperature"`
	TopP          *float64        `json:"top_p"`
	TopK          *int            `json:"top_k"` // vLLM's, like the next
	MinP          *float64        `json:"min_p"`
	Seed          *int64          `json:"seed"`
	Stop          json.RawMessage `json:"stop"`
	Stream        bool            `json:"stream"`
	StreamOptions *streamOptions  `json:"stream_options"`
	IgnoreEOS     bool            `json:"ignore_eos"` // vLLM's: go on after the end, up to max_tokens
	Priority      json.RawMessage `json:"priority"`   // vLLM's integer, the lower the more urgent, or a class
	CacheSalt     *string         `json:"cache_salt"` // vLLM's: only requests of the same salt share cached blocks
	unsupported

	stops       []string // Stop, decoded
	class       Class    // Priority, decoded
	logprobs    bool     // wanted; each endpoint has its own way to ask
	topLogprobs int
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// Limits of stop strings.
const (
	maxStops    = 16
	maxStopSize = 256 // bytes
)

func (p *params) check() (err error) {
	switch {
	case p.MaxTokens != nil && *p.MaxTokens < 1:
		return badParam("max_tokens", "max_tokens is %d, must be at least 1", *p.MaxTokens)
	case p.Temperature != nil && (*p.Temperature < 0 || *p.Temperature > 2):
		return badParam("temperature", "temperature is %g, must be between 0 and 2", *p.Temperature)
	case p.TopP != nil && (*p.TopP <= 0 || *p.TopP > 1):
		return badParam("top_p", "top_p is %g, must be above 0 and at most 1", *p.TopP)
	case p.TopK != nil && *p.TopK < -1:
		return badParam("top_k", "top_k is %d, must be at least 1, or 0 or -1 for all tokens", *p.TopK)
	case p.MinP != nil && (*p.MinP < 0 || *p.MinP > 1):
		return badParam("min_p", "min_p is %g, must be between 0 and 1", *p.MinP)
	case p.StreamOptions != nil && !p.Stream:
		return badParam("stream_options", "stream_options needs stream")
	case p.CacheSalt != nil && *p.CacheSalt == "":
		return badParam("cache_salt", "cache_salt must not be empty")
	}
	if err := p.unsupported.check(); err != nil {
		return err
	}
	if p.class, err = decodeClass(p.Priority); err != nil {
		return err
	}
	p.stops, err = decodeStops(p.Stop)
	return err
}

// decodeClass takes an integer (below 0 realtime, above 0 background), the name of a class, or null.
func decodeClass(raw json.RawMessage) (Class, error) {
	var name string
	var number int64
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return Normal, nil
	case json.Unmarshal(raw, &name) == nil:
		if c, err := ParseClass(name); err == nil {
			return c, nil
		}
	case json.Unmarshal(raw, &number) == nil:
		return Class(min(max(number, int64(Realtime)), int64(Background))), nil
	}
	return Normal, badParam("priority", "priority must be an integer (the lower, the more urgent) or one of %s, %s and %s", Realtime, Normal, Background)
}

// decodeStops takes a string, an array of strings, or null.
func decodeStops(raw json.RawMessage) (stops []string, err error) {
	var one string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case json.Unmarshal(raw, &one) == nil:
		stops = []string{one}
	case json.Unmarshal(raw, &stops) != nil:
		return nil, badParam("stop", "stop must be a string or an array of strings")
	}
	if len(stops) > maxStops {
		return nil, badParam("stop", "stop has %d strings, at most %d are allowed", len(stops), maxStops)
	}
	for _, s := range stops {
		if s == "" || len(s) > maxStopSize {
			return nil, badParam("stop", "a stop string has %d bytes, must have 1 to %d", len(s), maxStopSize)
		}
	}
	return stops, nil
}

// sampler is the one that the request asks for; unset values are OpenAI's: temperature 1, top_p 1, any seed.
func (p *params) sampler() *Sampler {
	temperature, topP, seed := 1.0, 1.0, rand.Uint64()
	if p.Temperature != nil {
		temperature = *p.Temperature
	}
	if p.TopP != nil {
		topP = *p.TopP
	}
	if p.Seed != nil {
		seed = uint64(*p.Seed)
	}
	s := NewSampler(temperature, topP, seed)
	if p.TopK != nil {
		s.TopK = max(*p.TopK, 0)
	}
	if p.MinP != nil {
		s.MinP = *p.MinP
	}
	s.Logprobs, s.TopLogprobs = p.logprobs, p.topLogprobs
	return s
}

func (p *params) salt() string {
	if p.CacheSalt == nil {
		return ""
	}
	return *p.CacheSalt
}

func (p *params) includeUsage() bool { return p.StreamOptions != nil && p.StreamOptions.IncludeUsage }
