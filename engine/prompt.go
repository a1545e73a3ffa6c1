package engine

// sequence tokenizes and assembles the prompt and checks its length.
func (c *call) sequence(g generation) (*Sequence, error) {
	enc := c.encoder(c.r.Context())
	texts, err := g.tokenize(enc)
	if err != nil {
		return nil, err
	}
	c.done(StageTokenize)
	prompt := g.assemble(enc, texts)
	room, err := c.room(prompt, g.format().param)
	if err != nil {
		return nil, err
	}
	p, most := g.common(), g.defaultMaxTokens()
	if p.MaxTokens != nil {
		most = *p.MaxTokens
	}
	c.record.update(func(f *facts) { f.promptTokens = len(prompt) })
	return &Sequence{
		Prompt: prompt, MaxTokens: min(most, room), IgnoreEOS: p.IgnoreEOS, Sampler: p.sampler(),
		Class: p.class, Salt: p.salt(),
	}, nil
}

// room is how many tokens may follow the prompt.
func (c *call) room(prompt []int, param string) (int, error) {
	n := len(prompt)
	if n == 0 {
		return 0, badParam(param, "the prompt is empty")
	}
	for _, id := range prompt {
		if id < 0 || id >= c.shape.Vocab {
			return 0, badParam(param, "token %d is outside the vocabulary of %d tokens", id, c.shape.Vocab)
		}
	}
	var err *apiError
	switch cache := c.blocks.Capacity(); {
	case n >= c.shape.Context:
		err = badParam(param, "the prompt has %d tokens, which leaves no room for an answer in the context of %d tokens", n, c.shape.Context)
	case n >= cache:
		err = badParam(param, "the prompt has %d tokens, which leaves no room for an answer in the KV cache of %d tokens", n, cache)
	default:
		return min(c.shape.Context, cache) - n, nil
	}
	err.code = "context_length_exceeded"
	return 0, err
}
