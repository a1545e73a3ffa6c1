package frames

import (
	"strings"
	"testing"
)

func TestPurposes(t *testing.T) {
	cases := []struct{ stack, want string }{
		{"runtime.mallocgc encoding/json.(*encodeState).marshal llmtop/engine.writeJSON", JSON},
		{"runtime.scanobject runtime.gcAssistAlloc runtime.mallocgc llmtop/engine/tokenizer.(*Tokenizer).Encode", GC},
		{"runtime.bgsweep runtime.goexit", GC},
		{"runtime.procyield runtime.lock2 runtime.chansend llmtop/engine.(*Engine).tell", Lock},
		{"internal/sync.(*Mutex).lockSlow sync.(*Mutex).Lock main.f", Lock},
		{"syscall.Syscall internal/poll.(*FD).Write net.(*conn).Write net/http.checkConnErrorWriter.Write", Send},
		{"log/slog.(*Logger).log llmtop/engine.(*Engine).step", Logging},
		{"llmtop/engine.argmax llmtop/engine.(*Sampler).Sample", Model},
		{"llmtop/engine.(*plan).take llmtop/engine.(*Scheduler).Schedule", Scheduler},
		{"llmtop/engine.(*textFilter).push", Detokenize},
		{"runtime.futex runtime.schedule", Runtime},
		{"main.f", Other},
		{"", Other},

		{"apply_chat_template_(transformers/tokenization_utils_base.py) event_loop", Tokenize},
		{"detokenize_incrementally_(vllm/transformers_utils/detokenizer_utils.py)", Detokenize},
		{"pthread_cond_timedwait take_gil _PyEval_EvalFrameDefault", Lock},
		{"visit_decref gc_collect_main", GC},
		{"dequeue_(vllm/distributed/device_communicators/shm_broadcast.py) worker_busy_loop", Wait},
		{"cuEventSynchronize _to_list_(gpu_model_runner.py)", Wait},
		{"xgrammar::GrammarMatcher::Impl::AcceptToken", Grammar},
		{"Scheduler.schedule_(vllm/v1/core/sched/scheduler.py)", Scheduler},
		{"/usr/lib/libgomp.so.1 ggml_graph_compute_thread", Wait},
		{"ggml_compute_forward_mul_mat ggml_graph_compute_thread", Model},
		{"JSONEncoder.iterencode_(json/encoder.py) dumps", JSON},
	}
	for _, c := range cases {
		if got := (purposes{}).of(strings.Fields(c.stack)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.stack, got, c.want)
		}
	}
}

// A rule that an earlier one hides, or that matches everything, is a slip.
func TestTableIsSane(t *testing.T) {
	for i, r := range table {
		if r.what == "" || r.prefix+r.inside+r.suffix == "" {
			t.Errorf("rule %d: %+v", i, r)
		}
		sample := r.prefix + " " + r.inside + " " + r.suffix
		if r.prefix == "" {
			sample = "x" + sample
		}
		for j := range i {
			if table[j].matches(sample) && table[j].what != r.what {
				t.Errorf("rule %d %+v is hidden by %+v", i, r, table[j])
			}
		}
	}
}
