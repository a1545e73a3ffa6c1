package exposition

import (
	"fmt"
	"strings"
	"time"
)

// personality is an engine as its page shows it.
type personality struct {
	name  string
	style style
	rows  func(i *Info) []row
	note  func(p *page, m moment, e *event) // what the engine keeps in mind between moments
}

// personalities lists the engines that can be shown.
func personalities() []*personality {
	return []*personality{&llmtop, &vllm, &sglang, &tgi, &llamacpp, &trtllm}
}

// Names are those that New knows.
func Names() []string {
	var names []string
	for _, p := range personalities() {
		names = append(names, p.name)
	}
	return names
}

// New returns the page of an engine that has just started and has one of Names.
func New(name string, i Info) (Page, error) {
	if i.BlockSize < 1 || i.Blocks < 1 {
		return nil, fmt.Errorf("a metrics page of %d KV blocks of %d tokens: there must be at least one of one", i.Blocks, i.BlockSize)
	}
	for _, p := range personalities() {
		if p.name == name {
			return newPage(p, i), nil
		}
	}
	return nil, fmt.Errorf("there is no personality %q; there are %s", name, strings.Join(Names(), ", "))
}

// tally is what engines keep in mind between moments. Each uses some of it.
type tally struct {
	published time.Time // when gauges were written last
	decodes   int       // decode steps since the process started
	since     time.Time // the end of the last interval of them

	// Since gauges were written last.
	decoded, drafts, accepted, drafted, retracted int

	computed    int     // prompt tokens whose prefill has ended since the last step
	hits        int     // tokens found in the prefix cache, ever
	lookups     int     // and looked up
	finished    int     // requests since the last step
	queued      int     // requests in the queue as the engine counts them
	taken       bool    // some of them have left it
	steps       float64 // ever
	busy        float64 // sequences in them
	longest     float64 // sequence yet, tokens
	longestTold float64
	throughput  float64
	hitRatio    float64
	length      float64 // tokens a sequence got in a step with guesses
	acceptance  float64

	prompt, promptSeconds float64 // since the last scrape
	output, outputSeconds float64
}
