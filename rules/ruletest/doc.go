// Package ruletest runs case scripts: text in which series over time flow in as
// whole samples (request records, a metrics page under vLLM's names, host,
// process, GPU, CPU profile) and what the rule book must say at some moments
// is checked. It is the notation of promtool's rule tests:
//
//	# twice the traffic
//	every 1s
//	show requests metrics            what the engine tells: request records, a metrics page, or both
//	before 500 stage.queue=0.002     requests that the engine had answered before (default none)
//	jitter 0.2                       spread of per-request values (default 0.2)
//
//	requests.rate   6x60 10          values, one a step; the last one stays
//	stage.queue     0.002x60 0.1+0.3x30
//	queue.waiting   0x60 2+4x30
//	at 70s  top queue-backlog
//	at 70s  not mix-shift
//	at 30s  healthy
//
// Values: "a" once; "axn" a and n more times; "a+bxn" and "a-bxn" a, a+b … with n
// steps; "_" and "_xn" missing. Verbs: top, named, not, effect, risk, note (with
// an id), symptom (with a signal), healthy, degraded, unknown, unmeasurable,
// nothing (no cause at all until then), baseline (window, lifetime or slo), and
// "signal NAME OP NUMBER".
package ruletest
