package engine

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
)

// params are the parameters that both kinds of generation share.
type params struct {
	Model         string          `json:"model"`
	MaxTokens     *int            `json:"max_tokens"`
	Temperature   *float64        `json:"temperature"`
	TopP          *float64        `json:"top_p"`
	Seed          *int64          `json:"seed"`
	Stop          json.RawMessage `json:"stop"`
	Stream        bool            `json:"stream"`
	StreamOptions *streamOptions  `json:"stream_options"`
	IgnoreEOS     bool            `json:"ignore_eos"` // vLLM's: go on after the end, up to max_tokens
	N             *int            `json:"n"`
	BestOf        *int            `json:"best_of"`
	Logprobs      json.RawMessage `json:"logprobs"` // only to refuse it

	stops []string // Stop, decoded
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
	case p.N != nil && *p.N != 1:
		return badParam("n", "n is %d; this engine gives one answer a request", *p.N)
	case p.BestOf != nil && *p.BestOf != 1:
		return badParam("best_of", "best_of is %d; this engine gives one answer a request", *p.BestOf)
	case !slices.Contains([]string{"", "null", "false", "0"}, string(p.Logprobs)):
		return badParam("logprobs", "logprobs are not supported")
	case p.MaxTokens != nil && *p.MaxTokens < 1:
		return badParam("max_tokens", "max_tokens is %d, must be at least 1", *p.MaxTokens)
	case p.Temperature != nil && (*p.Temperature < 0 || *p.Temperature > 2):
		return badParam("temperature", "temperature is %g, must be between 0 and 2", *p.Temperature)
	case p.TopP != nil && (*p.TopP <= 0 || *p.TopP > 1):
		return badParam("top_p", "top_p is %g, must be above 0 and at most 1", *p.TopP)
	case p.StreamOptions != nil && !p.Stream:
		return badParam("stream_options", "stream_options needs stream")
	}
	p.stops, err = decodeStops(p.Stop)
	return err
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
	return NewSampler(temperature, topP, seed)
}

func (p *params) includeUsage() bool { return p.StreamOptions != nil && p.StreamOptions.IncludeUsage }
