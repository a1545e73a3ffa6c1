// Package engine is a real LLM serving engine: OpenAI-compatible HTTP requests
// flow in, tokens of a language model flow out, streamed.
//
// A handler receives, checks and tokenizes a request and queues it as a Sequence;
// one loop (Engine.Run) owns the Scheduler, the BlockManager and the Runner and
// computes, step after step, the next tokens of all running sequences in one
// batch (continuous batching, chunked prefill, paged KV cache, preemption by
// recomputation, speculative decoding); per request a goroutine turns tokens into text and the handler
// writes it. Nothing that a client does can hold up the loop.
//
// The engine tells of itself over HTTP: /metrics under vLLM's names, so that
// dashboards made for vLLM work on it, the stage times of every request at
// /debug/requests, and net/http/pprof, whose CPU profiles bear the stage of each
// sample as a label. An EventLog, if given, gets a line for what happens to a
// request. Texts of prompts and answers are never stored or logged.
//
// Chats are written in the model's own format where it is one that is known (ChatML,
// Llama 3's, the built-in model's), found by the literals of the template in its file.
//
// The forward pass is package model's, the vocabulary is package tokenizer's; the
// seams are the interfaces Runner, Proposer and Tokenizer.
package engine
