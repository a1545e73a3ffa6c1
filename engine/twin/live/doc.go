// Package live lets a simulated engine serve in real time: the real engine of package engine
// answers over HTTP, and in place of a forward pass its Runner waits as long as the cost model
// says that the GPUs would take. What the front half takes on the CPU is waited for likewise.
// Tokens flow in as a placeholder vocabulary has them, placeholder words flow out. Beside the
// engine's pages it serves what would be seen of GPUs and host, marked simulated, and the
// metrics page of whatever engine it is to look like.
package live
