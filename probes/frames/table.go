package frames

import "strings"

// What samples are for. The names appear in signals (profile.<name>_share).
const (
	Tokenize   = "tokenize"
	Detokenize = "detokenize"
	Model      = "model"     // forward pass and sampling
	Scheduler  = "scheduler" // batch formation, KV block bookkeeping
	Grammar    = "grammar"   // structured output
	JSON       = "json"
	GC         = "gc" // garbage collection, assists included
	Lock       = "lock"
	Send       = "send" // writing to clients
	Logging    = "logging"
	Wait       = "wait"    // burning a core while waiting for a device, a peer or a barrier
	Runtime    = "runtime" // the language's own scheduling and memory
	Other      = "other"
)

// rule maps function names to a purpose. All parts that are set must match.
type rule struct {
	what   string
	prefix string
	inside string
	suffix string
}

func (r *rule) matches(name string) bool {
	return strings.HasPrefix(name, r.prefix) && strings.Contains(name, r.inside) && strings.HasSuffix(name, r.suffix)
}

// table is searched from the top for each frame, leaf first; the first frame
// with a rule decides. Frames that serve every purpose (copying, allocating,
// maps) have no rule: their caller decides.
var table = []rule{
	// Go: garbage collection and locks, which sit below any other purpose.
	{what: GC, prefix: "runtime.gc"},
	{what: GC, prefix: "runtime.bgsweep"},
	{what: GC, prefix: "runtime.bgscavenge"},
	{what: GC, prefix: "runtime.sweep"},
	{what: GC, prefix: "runtime.scan"},
	{what: GC, prefix: "runtime.greyobject"},
	{what: GC, prefix: "runtime.markroot"},
	{what: GC, prefix: "runtime.wbBufFlush"},
	{what: GC, prefix: "runtime.(*gc"},
	{what: GC, prefix: "runtime.(*sweep"},
	{what: Lock, prefix: "runtime.lock"},
	{what: Lock, prefix: "runtime.unlock"},
	{what: Lock, prefix: "runtime.semacquire"},
	{what: Lock, prefix: "runtime.semrelease"},
	{what: Lock, prefix: "sync.(*Mutex)"},
	{what: Lock, prefix: "sync.(*RWMutex)"},
	{what: Lock, prefix: "internal/sync.(*Mutex)"},

	// This project's engine.
	{what: Detokenize, prefix: "llmtop/engine/tokenizer.(*Decoder)"},
	{what: Detokenize, prefix: "llmtop/engine/tokenizer.(*Tokenizer).appendBytes"},
	{what: Detokenize, prefix: "llmtop/engine/tokenizer.(*Tokenizer).Decode"},
	{what: Detokenize, prefix: "llmtop/engine.(*textFilter)"},
	{what: Tokenize, prefix: "llmtop/engine/tokenizer."},
	{what: Model, prefix: "llmtop/engine/model."},
	{what: Model, prefix: "llmtop/engine.(*Sampler)"},
	{what: Model, prefix: "llmtop/engine.(*cpuRunner)"},
	{what: Scheduler, prefix: "llmtop/engine.(*Scheduler)"},
	{what: Scheduler, prefix: "llmtop/engine.(*plan)"},
	{what: Scheduler, prefix: "llmtop/engine.(*BlockManager)"},
	{what: Send, prefix: "llmtop/engine.(*eventStream)"},

	// Go's library.
	{what: JSON, prefix: "encoding/json."},
	{what: JSON, prefix: "encoding/json/"},
	{what: Logging, prefix: "log."},
	{what: Logging, prefix: "log/slog."},
	{what: Logging, prefix: "llmtop/engine.(*EventLog)"},
	{what: Logging, prefix: "llmtop/engine.(*lineWriter)"},
	{what: Logging, prefix: "os.(*File).Write"}, // what a server writes to files is mostly its log
	{what: Send, prefix: "net/http.(*response)"},
	{what: Send, prefix: "net/http.(*chunkWriter)"},
	{what: Send, prefix: "net/http.checkConnErrorWriter"},
	{what: Send, prefix: "net/http.(*http2responseWriter)"},
	{what: Send, prefix: "net.(*conn).Write"},
	{what: Send, prefix: "crypto/tls.(*Conn).Write"},

	// Python engines (vLLM, SGLang, TGI); function names as samplers print them.
	{what: Detokenize, inside: "detokenize"},
	{what: Detokenize, inside: "Detokenizer"},
	{what: Detokenize, inside: "detokenizer_manager"},
	{what: Detokenize, inside: "decode_token"},
	{what: Tokenize, inside: "apply_chat_template"},
	{what: Tokenize, inside: "jinja2"},
	{what: Tokenize, inside: "tokenizers::"},
	{what: Tokenize, inside: "tokenizer", suffix: "encode"},
	{what: Tokenize, inside: "tokenize_prompt"},
	{what: Tokenize, inside: "_tokenize"},
	{what: Grammar, inside: "grammar_bitmask"},
	{what: Grammar, inside: "fill_bitmask"},
	{what: Grammar, inside: "xgrammar"},
	{what: Grammar, inside: "GrammarMatcher"},
	{what: Grammar, prefix: "llama_grammar_"},
	{what: Lock, inside: "take_gil"},
	{what: Lock, inside: "PyThread_acquire_lock_timed"},
	{what: GC, inside: "gc_collect_main"},
	{what: GC, prefix: "visit_decref"},
	{what: GC, prefix: "visit_reachable"},
	{what: JSON, inside: "iterencode"},
	{what: JSON, inside: "json.dumps"},
	{what: JSON, inside: "json.loads"},
	{what: Logging, inside: "logging/__init__.py"},
	{what: Scheduler, inside: "Scheduler.schedule"},
	{what: Scheduler, inside: "update_from_output"},
	{what: Scheduler, inside: "get_next_batch_to_run"},
	{what: Scheduler, inside: "_stream_output_generation"},

	// Devices, collectives and thread barriers: a core that is busy waiting.
	{what: Wait, inside: "shm_broadcast"},
	{what: Wait, inside: "recv_requests"},
	{what: Wait, inside: "EventSynchronize"},
	{what: Wait, inside: "StreamSynchronize"},
	{what: Wait, inside: "_bookkeeping_sync"},
	{what: Wait, inside: "_local_scalar_dense_cuda"},
	{what: Wait, inside: "waitRecv"},
	{what: Wait, prefix: "ggml_barrier"},
	{what: Wait, prefix: "ggml_thread_cpu_relax"},
	{what: Wait, prefix: "__kmp_"},
	{what: Wait, inside: "libgomp"},
	{what: Wait, prefix: "sched_yield"},

	// C++ and Python forward passes.
	{what: Model, prefix: "ggml_"},
	{what: Model, prefix: "llama_decode"},
	{what: Model, inside: "tinyBLAS"},
	{what: Model, inside: "llamafile_sgemm"},
	{what: Model, inside: "common_sampler_sample"},
	{what: Model, inside: "cudaLaunchKernel"},
	{what: Model, inside: "cudaGraphLaunch"},
	{what: Model, inside: "execute_model"},
	{what: Model, prefix: "at::native::"},
}

// purposes remembers what the frames of one profile are for.
type purposes map[string]string

// of finds what a stack, leaf first, was for: its leaf-most frame with a rule
// decides. A stack of the language's own frames alone is Runtime.
func (p purposes) of(stack []string) string {
	own := len(stack) > 0
	for _, name := range stack {
		if what := p.frame(name); what != "" {
			return what
		}
		own = own && language(name)
	}
	if own {
		return Runtime
	}
	return Other
}

// frame is what one frame is for, "" when it serves every purpose.
func (p purposes) frame(name string) string {
	what, known := p[name]
	if known {
		return what
	}
	for i := range table {
		if table[i].matches(name) {
			what = table[i].what
			break
		}
	}
	p[name] = what
	return what
}

// language reports whether a frame belongs to Go's runtime.
func language(name string) bool {
	return strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/runtime/")
}
