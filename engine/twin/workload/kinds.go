package workload

import "llmtop/engine/twin/knob"

// Kind is a kind of workload that a stream may be of.
type Kind struct {
	Doc    string
	Stream Stream // as it is unless somebody says otherwise
}

// Kinds are all there are. Where numbers are published they stand with their source; what is
// published are mostly whole prompts, so the parts of a prompt are chosen to add up to them.
//
//   - chat: messages and answers as in LMSYS-Chat-1M (Zheng et al. 2024: means of 69.5 and 214.5
//     tokens); with the conversation so far prompts come to the median of about 1000 tokens and
//     answers to that of 129 of the Azure conversation trace (Patel et al., Splitwise, 2024).
//   - code: completions in an editor, as in the Azure code trace (same: medians of 1500 and 13 tokens).
//   - rag, summarise, longtail: as benchmarks commonly set them (prompts of some thousand tokens, short
//     answers); a few answers of 4096 tokens among short ones test fairness.
//   - agent: deep prefixes and many turns, as in the tool-and-agent trace of Mooncake (Qin et al.,
//     FAST 2025: means of 8596 and 182 tokens, more than half of a prompt found in the cache).
var Kinds = []Kind{
	{"conversations of people, one system prompt of a few in front", Stream{Kind: "chat",
		Prompt: lognormal(60, 420), Output: lognormal(150, 600), Streamed: 0.95, Bytes: 4.2,
		Prefixes: Prefixes{Systems: 6, System: lognormal(350, 900), Zipf: 1, Turns: 3.5, Think: 30}}},
	{"questions after retrieved documents, the popular ones again and again", Stream{Kind: "rag",
		Prompt: lognormal(900, 2600), Output: lognormal(160, 480), Streamed: 0.9, Bytes: 4.4,
		Prefixes: Prefixes{Systems: 3, System: lognormal(250, 500), Documents: 4000, Document: lognormal(1000, 2500), Zipf: 0.8}}},
	{"completions in an editor: short answers, somebody waits for each", Stream{Kind: "code",
		Prompt: lognormal(900, 4200), Output: lognormal(14, 110), Streamed: 0.8, Bytes: 3.3, Realtime: 0.8,
		Prefixes: Prefixes{Systems: 2, System: lognormal(200, 300), Documents: 3000, Document: lognormal(350, 1400), Zipf: 0.7}}},
	{"long texts, short answers, nothing shared but the instruction", Stream{Kind: "summarise",
		Prompt: lognormal(3500, 11000), Output: lognormal(230, 600), Streamed: 0.3, Bytes: 4.5, Background: 0.5,
		Prefixes: Prefixes{Systems: 4, System: lognormal(120, 250), Zipf: 0.8}}},
	{"programs that call tools: many turns, deep shared prefixes, JSON answers", Stream{Kind: "agent",
		Prompt: lognormal(220, 1500), Output: lognormal(90, 520), Streamed: 0.4, Bytes: 3.6, Guided: 0.5, Schemas: 30,
		Prefixes: Prefixes{Systems: 4, System: lognormal(3000, 6000), Zipf: 1, Turns: 12, Think: 4}}},
	{"short questions, and a few answers that are very long", Stream{Kind: "longtail",
		Prompt: lognormal(150, 900), Output: Length{Bimodal, [3]float64{140, 4096, 0.03}}, Streamed: 0.9, Bytes: 4.2,
		Prefixes: Prefixes{Systems: 4, System: lognormal(200, 500), Zipf: 1}}},
}

func lognormal(median, p95 float64) Length {
	return Length{Shape: Lognormal, Numbers: [3]float64{median, p95}}
}

// NewStream is a stream as its kind has it, without a rate.
func NewStream(kind string) (Stream, error) {
	k, err := kindOf(kind)
	if err != nil {
		return Stream{}, err
	}
	return k.Stream, nil
}

func kindOf(name string) (*Kind, error) {
	names := make([]string, len(Kinds))
	for i := range Kinds {
		if names[i] = Kinds[i].Stream.Kind; names[i] == name {
			return &Kinds[i], nil
		}
	}
	return nil, knob.Unknown("workload", name, names)
}
