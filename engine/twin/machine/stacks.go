package machine

// stack is what a sampler sees of a part: so many of its samples have these frames, leaf
// first, separated by "<". Label is the stage that our own engine sets on its goroutines.
type stack struct {
	part   Part
	weight float64
	frames string
	label  string
}

// stacksOf are the stacks of a language's engines. Shares of a part add up to 1.
func stacksOf(l language) []stack {
	switch l {
	case golang:
		return goStacks
	case cpp:
		return cppStacks
	}
	return pythonStacks
}

const (
	pyAPI    = "<run_server (vllm/entrypoints/openai/api_server.py)<run (asyncio/runners.py)"
	pyCore   = "<step (v1/engine/core.py)<run_busy_loop (v1/engine/core.py)"
	pyWorker = "<execute_model (gpu_model_runner.py)<worker_busy_loop (multiproc_executor.py)"
)

var pythonStacks = []stack{
	{Receive, 0.55, "raw_decode (json/decoder.py)<json.loads (json/__init__.py)<json (starlette/requests.py)" + pyAPI, ""},
	{Receive, 0.45, "validate_python (pydantic/type_adapter.py)<solve_dependencies (fastapi/dependencies/utils.py)" + pyAPI, ""},
	{Tokenize, 0.85, "tokenizers::models::bpe::BPE::merge_word<tokenizers::tokenizer::TokenizerImpl::encode<_encode_plus (tokenization_utils_fast.py)", ""},
	{Tokenize, 0.15, "_encode_plus (tokenization_utils_fast.py)<_tokenize_prompt_input_async (serving_engine.py)", ""},
	{Assemble, 0.7, "root (jinja2 template)<render (jinja2/environment.py)<apply_chat_template (chat_utils.py)" + pyAPI, ""},
	{Assemble, 0.3, "apply_chat_template (chat_utils.py)" + pyAPI, ""},
	{Images, 1, "resize (image_processing_utils_fast.py)<preprocess (image_processing_utils_fast.py)<run (concurrent/futures/thread.py)", ""},
	{GrammarCompile, 1, "compile_json_schema (xgrammar/compiler.py)<run (concurrent/futures/thread.py)", ""},
	{GrammarMask, 1, "fill_bitmask (structured_output/backend_xgrammar.py)<grammar_bitmask (structured_output/__init__.py)" + pyCore, ""},
	{Schedule, 0.65, "allocate_slots (kv_cache_manager.py)<Scheduler.schedule (v1/core/sched/scheduler.py)" + pyCore, ""},
	{Schedule, 0.35, "update_from_output (v1/core/sched/scheduler.py)" + pyCore, ""},
	{Launch, 0.6, "cudaGraphLaunch<replay (torch/cuda/graphs.py)" + pyWorker, ""},
	{Launch, 0.4, "_prepare_inputs (gpu_model_runner.py)" + pyWorker, ""},
	{Sampling, 1, "at::native::topk_cpu<apply_top_k_top_p (sample/ops/topk_topp_sampler.py)<_sample (gpu_model_runner.py)" + pyWorker, ""},
	{Detokenize, 0.7, "step (tokenizers/decoders)<update (FastIncrementalDetokenizer)<process_outputs (v1/engine/output_processor.py)" + pyAPI, ""},
	{Detokenize, 0.3, "detokenize_incrementally (detokenizer_utils.py)<process_outputs (v1/engine/output_processor.py)" + pyAPI, ""},
	{Send, 0.4, "iterencode (json/encoder.py)<chat_completion_stream_generator (serving_chat.py)" + pyAPI, ""},
	{Send, 0.6, "write (uvloop/loop)<send (uvicorn/protocols/http/httptools_impl.py)" + pyAPI, ""},
	{Logging, 1, "emit (logging/__init__.py)<handle (logging/__init__.py)<log_request (uvicorn/protocols)" + pyAPI, ""},
	{Compile, 1, "make_cubin (triton/backends/nvidia/compiler.py)<compile (triton/compiler/compiler.py)" + pyWorker, ""},
	{GC, 0.6, "visit_decref<subtract_refs<gc_collect_main" + pyAPI, ""},
	{GC, 0.4, "visit_reachable<move_unreachable<gc_collect_main" + pyAPI, ""},
	{locking, 1, "pthread_cond_timedwait<take_gil<PyEval_RestoreThread" + pyAPI, ""},
	{spinning, 0.7, "sched_yield<acquire_read (shm_broadcast.py)<dequeue (shm_broadcast.py)<worker_busy_loop (multiproc_executor.py)", ""},
	{spinning, 0.3, "cuEventSynchronize<cudaEventSynchronize<_to_list (gpu_model_runner.py)" + pyWorker, ""},
}

const (
	goHandler = "<llmtop/engine.(*call).serve<net/http.HandlerFunc.ServeHTTP<net/http.(*conn).serve"
	goLoop    = "<llmtop/engine.(*Engine).step<llmtop/engine.(*Engine).Run"
)

var goStacks = []stack{
	{Receive, 0.8, "encoding/json.(*decodeState).object<encoding/json.Unmarshal<llmtop/engine.parseChat" + goHandler, "parse"},
	{Receive, 0.2, "net/textproto.(*Reader).ReadMIMEHeader<net/http.readRequest<net/http.(*conn).readRequest<net/http.(*conn).serve", ""},
	{Tokenize, 1, "llmtop/engine/tokenizer.(*merger).add<llmtop/engine/tokenizer.(*Tokenizer).encode<llmtop/engine/tokenizer.(*Tokenizer).Encode" + goHandler, "tokenize"},
	{Assemble, 1, "llmtop/engine.(*chatTemplate).prompt<llmtop/engine.(*chatRequest).assemble" + goHandler, "assemble"},
	{Images, 1, "image/jpeg.(*decoder).processSOS<image/jpeg.Decode" + goHandler, ""},
	{GrammarCompile, 1, "llmtop/engine.compileGrammar" + goHandler, ""},
	{GrammarMask, 1, "llmtop/engine.(*Sampler).cut<llmtop/engine.(*Sampler).Sample<llmtop/engine.(*cpuRunner).Run" + goLoop, "decode"},
	{Schedule, 0.7, "llmtop/engine.(*Scheduler).Schedule" + goLoop, "schedule"},
	{Schedule, 0.3, "llmtop/engine.(*BlockManager).allocate<llmtop/engine.(*BlockManager).Grow<llmtop/engine.(*Scheduler).Schedule" + goLoop, "schedule"},
	{Launch, 1, "llmtop/engine/model.(*Model).block<llmtop/engine/model.(*Model).Forward<llmtop/engine.(*cpuRunner).Run" + goLoop, "decode"},
	{Sampling, 1, "llmtop/engine.(*Sampler).weigh<llmtop/engine.(*Sampler).Sample<llmtop/engine.(*cpuRunner).Run" + goLoop, "decode"},
	{Detokenize, 1, "llmtop/engine/tokenizer.(*Decoder).take<llmtop/engine/tokenizer.(*Decoder).Push" + goHandler, "detokenize"},
	{Send, 1, "syscall.write<net.(*conn).Write<net/http.checkConnErrorWriter.Write<llmtop/engine.(*eventStream).raw<llmtop/engine.(*eventStream).piece" + goHandler, "send"},
	{Logging, 1, "syscall.write<os.(*File).Write<llmtop/engine.(*lineWriter).Write<llmtop/engine.(*EventLog).write", "log"},
	{Compile, 1, "llmtop/engine/model.(*Model).resize<llmtop/engine/model.(*Model).Forward<llmtop/engine.(*cpuRunner).Run" + goLoop, "prefill"},
	{GC, 0.7, "runtime.scanobject<runtime.gcDrain<runtime.gcBgMarkWorker", ""},
	{GC, 0.3, "runtime.gcAssistAlloc<runtime.mallocgc<encoding/json.Unmarshal" + goHandler, "parse"},
	{locking, 1, "runtime.procyield<runtime.lock2<sync.(*Mutex).Lock" + goHandler, ""},
	{spinning, 1, "runtime.usleep<runtime.runqgrab<runtime.findRunnable<runtime.schedule", ""},
}

const cppLoop = "<server_context::update_slots<server_queue::start_loop<main"

var cppStacks = []stack{
	{Receive, 0.7, "nlohmann::detail::parser::sax_parse_internal<nlohmann::basic_json::parse<httplib::Server::process_request", ""},
	{Receive, 0.3, "httplib::detail::read_content<httplib::Server::process_request", ""},
	{Tokenize, 1, "llm_tokenizer_bpe_session::tokenize<llama_tokenize<common_tokenize<httplib::Server::process_request", ""},
	{Assemble, 1, "minja::TemplateNode::render<common_chat_templates_apply<httplib::Server::process_request", ""},
	{Images, 1, "clip_image_preprocess<mtmd_tokenize<httplib::Server::process_request", ""},
	{GrammarCompile, 1, "llama_grammar_parser::parse<llama_grammar_init_impl" + cppLoop, ""},
	{GrammarMask, 1, "llama_grammar_reject_candidates_for_stack<llama_grammar_apply_impl<common_sampler_sample" + cppLoop, ""},
	{Schedule, 1, "llama_kv_cache::find_slot<llama_context::decode" + cppLoop, ""},
	{Launch, 1, "cudaLaunchKernel<ggml_cuda_graph_evaluate_and_capture<ggml_backend_sched_graph_compute_async<llama_decode" + cppLoop, ""},
	{Sampling, 1, "llama_sampler_top_p_apply<common_sampler_sample" + cppLoop, ""},
	{Detokenize, 1, "llama_vocab::impl::detokenize<common_token_to_piece" + cppLoop, ""},
	{Send, 1, "httplib::SocketStream::write<httplib::detail::write_content_chunked<httplib::Server::process_request", ""},
	{Logging, 1, "vfprintf<common_log_entry::print<common_log_add" + cppLoop, ""},
	{Compile, 1, "ggml_cuda_graph_update_executable<llama_decode" + cppLoop, ""},
	{GC, 1, "malloc_consolidate<free" + cppLoop, ""},
	{locking, 1, "__lll_lock_wait<pthread_mutex_lock<httplib::Server::process_request", ""},
	{spinning, 1, "cudaStreamSynchronize<ggml_backend_cuda_synchronize<llama_decode" + cppLoop, ""},
}
