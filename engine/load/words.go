package load

import "strings"

// The words of the shipped model's topic.
var (
	names    = strings.Fields("Ada Mira Nina Ines Ruth Tara Lena Maya Olga Zoe Vera Kim Omar Ivan Noah Hugo Sven Theo Raj Ben Luca Emil Karl Tom")
	days     = strings.Fields("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
	services = []string{"the chat service", "the search service", "the code helper", "the summary service", "the support bot",
		"the mail writer", "the translation service", "the voice agent", "the batch pipeline", "the document reader"}
	terms = []string{"TTFT", "TPOT", "inter token latency", "the KV cache", "preemption", "prefill", "decode", "batching",
		"continuous batching", "queue depth", "p99", "p50", "throughput", "goodput", "throttling", "the tokenizer", "a token",
		"chunked prefill", "prefix caching", "speculative decoding", "a draft model", "quantization", "overload", "context length"}
	askTerm = []string{"What is {t}?", "What does {t} mean?", "Explain {t}.", "Can you explain {t}?", "Please explain {t}.", "Tell me about {t}.", "Why does {t} matter?"}
	causes  = []string{"a queue backlog", "slow pre-processing", "GPU compute", "memory bandwidth", "overload", "a hardware fault", "long input", "a KV cache that is too small", "throttling"}
)
