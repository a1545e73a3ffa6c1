package load

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// prompter writes prompts on the topic of the model that llmtop ships: why LLM
// serving is slow. Short ones are questions as an on-call engineer asks them; a
// longer one puts shift notes before the question, as retrieved context would be.
type prompter struct {
	seed   uint64
	tokens int
	spread float64
	chars  float64  // a token
	story  bool     // the answer should be long
	prefix []string // one of them begins each prompt; empty: none does
}

// charsPerToken of shift notes in the shipped model's vocabulary (measured over
// 200 prompts of 500 and of 1500 tokens: 2.72 and 2.73; numbers are written out
// digit by digit). Vocabularies a hundred times its size come to about 4.
const charsPerToken = 2.73

// storyTokens is the length from which an answer is asked for as a story: the
// shipped model answers a question in 20 to 60 tokens.
const storyTokens = 80

const promptStream = 0x9209_7a11

func newPrompter(c Config) *prompter {
	p := &prompter{seed: uint64(c.Seed), tokens: c.PromptTokens, spread: c.PromptSpread,
		chars: orDefault(c.CharsPerToken, charsPerToken), story: c.OutputTokens >= storyTokens}
	if c.SharedPrefixTokens > 0 {
		for i := range uint64(max(1, c.SharedPrefixes)) {
			p.prefix = append(p.prefix, notes(p.grammar(i, promptStream+1), int(float64(c.SharedPrefixTokens)*p.chars)))
		}
	}
	return p
}

func (p *prompter) grammar(i, stream uint64) grammar {
	return grammar{rand.New(rand.NewPCG(p.seed^stream, i))}
}

// prompt is the ith prompt; it depends on the seed and i alone.
func (p *prompter) prompt(i uint64) string {
	g := p.grammar(i, promptStream)
	prefix := p.shared(i)
	ask := question(g)
	if p.story {
		ask = storyRequest(g)
	}
	target := float64(p.tokens) * (1 + p.spread*(2*g.rng.Float64()-1)) * p.chars
	room := int(target) - len(prefix) - len(ask)
	if room < len("At 7 am, Ada was paged.") {
		return prefix + ask
	}
	return prefix + notes(g, room) + ask
}

// shared is what the ith prompt begins with, as others do.
func (p *prompter) shared(i uint64) string {
	switch n := len(p.prefix); n {
	case 0:
		return ""
	case 1:
		return p.prefix[0]
	default:
		return p.prefix[rand.New(rand.NewPCG(p.seed^(promptStream+2), i)).IntN(n)]
	}
}

// notes writes shift notes of about n characters, whole sentences, ending in a
// newline. Time, name and numbers come first, so two of them part at once.
func notes(g grammar, n int) string {
	var b strings.Builder
	b.Grow(n + 200)
	for b.Len() < n {
		for _, sentence := range incident(g) {
			if b.Len()+len(sentence)/2 > n && b.Len() > 0 {
				return strings.TrimRight(b.String(), " ") + "\n"
			}
			b.WriteString(sentence)
			b.WriteByte(' ')
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

func incident(g grammar) []string {
	name := g.pick(names)
	ttft, tpot := 10*g.between(12, 45), g.between(12, 46)
	sentences := []string{
		fmt.Sprintf("At %02d:%02d on %s, %s was paged about %s.", g.between(0, 23), g.between(0, 59), g.pick(days), name, g.pick(services)),
	}
	facts := []string{
		fmt.Sprintf("TTFT [rose|went up|jumped] from %d ms to %d ms, [but|while] TPOT [stayed|was] flat at %d ms.", ttft, ttft*g.between(4, 12), tpot),
		fmt.Sprintf("TPOT [rose|went up|jumped] from %d ms to %d ms.", tpot, tpot*g.between(2, 5)),
		fmt.Sprintf("Queue depth was %d and [growing|still rising].", g.between(40, 900)),
		fmt.Sprintf("The KV cache was [only |]%d percent full.", g.between(15, 60)),
		fmt.Sprintf("Traffic had grown from %d to %d requests per second.", g.between(5, 90), 100*g.between(2, 9)),
		fmt.Sprintf("The clocks held steady at %d MHz.", 10*g.between(150, 199)),
		fmt.Sprintf("The engine counted %d preemptions.", g.between(20, 400)),
		fmt.Sprintf("The tokenizer kept CPU core %d %d percent busy.", g.between(1, 32), g.between(90, 100)),
		fmt.Sprintf("%s raised the batch limit from %d to %d.", name, g.between(16, 48), 32*g.between(2, 8)),
		fmt.Sprintf("%s added [two|three|four|five] more instances.", name),
		fmt.Sprintf("The queue drained in %d minutes and TTFT fell to %d ms.", g.between(2, 40), ttft),
		"[The log showed no errors.|Nobody had deployed anything.|Every instance looked the same.|The CPU was mostly idle.]",
	}
	g.rng.Shuffle(len(facts), func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })
	for _, f := range facts[:g.between(4, len(facts))] {
		sentences = append(sentences, g.write(f))
	}
	return sentences
}

func question(g grammar) string {
	if g.rng.IntN(3) == 0 {
		return strings.Replace(g.pick(askTerm), "{t}", g.pick(terms), 1)
	}
	s := symptom(g)
	return g.write("[|Help, |I see that |We see that ]") + s + ". " + g.write("[What now?|What is wrong?|What is the cause?|Why?|What should I do?|What should I try first?]")
}

func symptom(g grammar) string {
	ttft, tpot := 10*g.between(12, 45), g.between(12, 46)
	return g.pick([]string{
		fmt.Sprintf("TTFT went from %d ms to %d ms but TPOT is still %d ms", ttft, ttft*g.between(4, 12), tpot),
		fmt.Sprintf("TPOT went from %d ms to %d ms but TTFT is still %d ms", tpot, tpot*g.between(2, 5), ttft),
		fmt.Sprintf("TTFT went from %d ms to %d ms and TPOT went from %d ms to %d ms", ttft, ttft*g.between(4, 12), tpot, tpot*g.between(2, 5)),
		fmt.Sprintf("queue depth is %d and TTFT is %d ms", g.between(40, 900), ttft*g.between(4, 12)),
		fmt.Sprintf("instance %d of %d is slow", g.between(1, 5), g.between(6, 12)),
		fmt.Sprintf("requests with %d tokens are slow", 1000*g.between(9, 119)),
		fmt.Sprintf("the KV cache is %d percent full and there are %d preemptions", g.between(97, 100), g.between(20, 400)),
		fmt.Sprintf("the GPU is only %d percent busy and throughput is low", g.between(4, 29)),
		fmt.Sprintf("the clocks dropped from %d to %d MHz", 10*g.between(150, 199), 10*g.between(60, 109)),
	})
}

func storyRequest(g grammar) string {
	return g.write("[Tell me|Write] a long story about ") + g.pick(causes) + "."
}
