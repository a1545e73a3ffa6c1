package record

import (
	"regexp"
	"strings"

	"llmtop/probes"
)

// Series: the names that engines, their libraries and their exporters have in common. A prefix
// that anybody may use (http_, process_) is not enough. Engines without a prefix have the
// names that package dialect reads of them.
var (
	commonSeries = regexp.MustCompile(`^(?:` +
		`(?:ray_)?(?:vllm|sglang|lmcache|llamacpp|lmdeploy|llmtop|tgi|trtllm|triton|nv|dynamo_(?:frontend|component)|DCGM_FI)[:_][a-zA-Z0-9_:]{1,120}|` +
		`(?:num_requests_(?:running|waiting)|num_request_max|gpu_cache_usage_perc|(?:prompt|generation)_tokens|` +
		`request_(?:success|failure|finish|error|prompt_tokens|generation_tokens)|` +
		`(?:time_to_first_token|time_per_output_token|e2e_request_latency|request_(?:queue|prefill|decode|inference)_time)_seconds|` +
		`kv_cache_(?:hit_rate|utilization|(?:max|free|used)_blocks|(?:reused|missed)_blocks|tokens_per_block)|prompt_cached_tokens|num_paused_requests|max_num_active_requests)(?:_total)?|` +
		`(?:ray_)?serve_deployment_queued_queries|` +
		`go_(?:goroutines|threads|info|(?:gc|memstats|sched|cpu|sync|cgo|godebug)_[a-z0-9_]{1,100})|` +
		`process_(?:cpu_seconds|open_fds|max_fds|(?:virtual|resident)_memory(?:_max)?_bytes|start_time_seconds|network_(?:receive|transmit)_bytes)(?:_total)?|` +
		`python_(?:info|gc_(?:objects_collected|objects_uncollectable|collections)(?:_total)?)|` +
		`http_(?:requests|requests_inprogress|(?:request|response)_size_bytes|request_duration(?:_highr)?_seconds)(?:_total)?|` +
		`promhttp_metric_handler_(?:requests|requests_in_flight|errors)(?:_total)?` +
		`)$`)
	seriesRule = rule{"names of metrics", keepShape(commonSeries), (*redactor).seriesName}
	labelRule  = rule{"names of labels", keepWords("le", "quantile", "engine", "engine_index", "model_name", "model", "finished_reason", "finish_reason",
		"reason", "status", "code", "method", "handler", "version", "implementation", "generation", "stage", "class", "priority", "device", "gpu", "UUID",
		"num_gpu_blocks", "block_size", "kv_cache_size_tokens", "max_num_seqs", "max_num_batched_tokens", "position",
		"slot", "engine_type", "tp_rank", "pp_rank", "moe_ep_rank", "dp_rank", "pid", "worker_addr", "ReplicaId", "WorkerId", "deployment", "num_pages", "page_size",
		"source", "mode", "is_streaming", "cache_source", "err", "http_code", "token_position", "request_type", "kv_cache_block_type",
		"inflight_batcher_specific_metric", "disaggregated_serving_type", "dynamo_endpoint", "dynamo_component", "error_type", "operation", "worker_type"), (*redactor).labelName}
	modelRule  = rule{"names of models", keepModel, (*redactor).modelName}
	numberRule = rule{"numbers in labels", keepShape(numberShape), (*redactor).hashed}
	// The value tells engines apart that must not run together.
	whoRule   = rule{"names of engines in labels", keepShape(numberShape), (*redactor).instance}
	otherRule = rule{"values of labels", nil, (*redactor).hashed}
)

// boundShape is a bucket's bound; some exporters write all digits of a float.
var boundShape = regexp.MustCompile(`^[+-]?(?:\d{1,18}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,3})?|Inf)$`)

// Models of Triton's that every deployment of the TensorRT-LLM backend has.
var tritonModels = keepWords("ensemble", "tensorrt_llm", "tensorrt_llm_bls", "preprocessing", "postprocessing")

func keepModel(x *redactor, s string) bool { return x.options.KeepModel || tritonModels(x, s) }

// modelName keeps models apart, and the spellings of one together: frontends write it in lower case.
func (x *redactor) modelName(s string) string {
	return "model-" + x.identity("model", strings.ToLower(s))
}

func (x *redactor) instance(s string) string { return "engine-" + x.identity("instance", s) }

// ruleByLabel are for values of labels; a label that is in neither table has no harmless values.
var ruleByLabel = map[string]rule{
	"le": {"numbers in labels", keepShape(boundShape), (*redactor).hashed}, "quantile": numberRule, "engine_index": numberRule, "code": numberRule, "generation": numberRule,
	"num_gpu_blocks": numberRule, "block_size": numberRule, "kv_cache_size_tokens": numberRule, "max_num_seqs": numberRule,
	"max_num_batched_tokens": numberRule, "position": numberRule, "token_position": numberRule, "num_pages": numberRule, "page_size": numberRule, "slot": numberRule,
	"tp_rank": numberRule, "pp_rank": numberRule, "moe_ep_rank": numberRule, "pid": whoRule, "priority": whoRule, "http_code": numberRule,
	"engine": whoRule, "dp_rank": whoRule, "worker_addr": whoRule, "ReplicaId": whoRule, "WorkerId": whoRule, "deployment": whoRule,
	"model_name": modelRule, "model": modelRule, "served_model_name": modelRule,
	"finished_reason": {"finish reasons", keepWords(append(lmdeployEnds, finishWords...)...), (*redactor).hashed},
	"finish_reason":   {"finish reasons", keepWords(finishWords...), (*redactor).hashed},
	"stage":           {"stages in labels", keepWords(append(probes.StageNames[:], otherStages...)...), (*redactor).hashed},
}

// wordsByLabel are the words that engines have for values of a label, the same everywhere.
var wordsByLabel = map[string][]string{
	"status":       {"success", "error", "1xx", "2xx", "3xx", "4xx", "5xx"},
	"class":        {"realtime", "normal", "background"},
	"source":       {"local_compute", "local_cache_hit", "external_kv_transfer"},
	"engine_type":  {"unified", "prefill", "decode", "pytorch", "tensorrt", "undefined"},
	"mode":         {"prefill_compute", "prefill_cache", "decode", "input", "device_hit", "host_hit", "storage_hit"},
	"is_streaming": {"true", "false", "True", "False"},
	"cache_source": {"device", "host", "total", "storage"},
	"reason": {"capacity", "deferred", "max_num_queued_reqs", "max_num_queued_tokens", // vLLM
		"BACKEND", "CANCELED", "OTHER", "REJECTED"}, // Triton
	"err":                              {"overloaded", "validation", "generation", "dropped", "incomplete", "template"},
	"method":                           {"prefill", "decode", "GET", "POST", "HEAD", "OPTIONS"},
	"request_type":                     {"waiting", "context", "scheduled", "max", "active", "unary", "stream"},
	"kv_cache_block_type":              {"fraction", "tokens_per", "used", "free", "max"},
	"inflight_batcher_specific_metric": {"micro_batch_id", "generation_requests", "total_context_tokens", "paused_requests"},
	"disaggregated_serving_type":       {"kv_cache_transfer_ms", "request_count"},
	"dynamo_endpoint":                  {"generate", "clear_kv_blocks"},
	"dynamo_component":                 {"prefill", "decode", "backend"},
	"error_type":                       {"cancelled", "internal", "overload", "validation", "not_found", "not_implemented", "generate", "publish_response"},
	"operation":                        {"tokenize", "detokenize"},
	"worker_type":                      {"prefill", "decode"},
}

var lmdeployEnds = []string{"ResponseType.SUCCESS", "ResponseType.FINISH", "ResponseType.CANCEL", "ResponseType.ENGINE_STOP_ERROR",
	"ResponseType.SESSION_REPEAT", "ResponseType.SESSION_NOT_EXIST", "ResponseType.HANDLER_NOT_EXIST", "ResponseType.INPUT_LENGTH_ERROR",
	"ResponseType.INTERNAL_ENGINE_ERROR", "ResponseType.PREFIX_CACHE_CONFLICT", "ResponseType.NO_QUEUE", "ResponseType.NOT_SUPPORTED", "ResponseType.OUT_OF_MEMORY"}

// otherStages are SGLang's and Dynamo's, beside those of requests.
var otherStages = []string{"prefill_forward", "chunked_prefill", "prefill_waiting", "prefill_bootstrap", "prefill_transfer_kv_cache",
	"decode_prepare", "decode_bootstrap", "decode_waiting", "decode_transferred", "request_process", "preprocess", "route", "dispatch", "postprocess", "transport_roundtrip"}

// rulesOfWords are wordsByLabel as rules.
var rulesOfWords = func() map[string]rule {
	out := map[string]rule{}
	for label, words := range wordsByLabel {
		known := keepWords(words...)
		out[label] = rule{"words in labels", func(x *redactor, s string) bool { return known(x, s) || numberShape.MatchString(s) }, (*redactor).hashed}
	}
	return out
}()

// valueRule decides on the values of a label.
func valueRule(label string) rule {
	if r, ok := ruleByLabel[label]; ok {
		return r
	}
	if r, ok := rulesOfWords[label]; ok {
		return r
	}
	return otherRule
}
