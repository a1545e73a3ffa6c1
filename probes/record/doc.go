// Package record keeps samples in a file and gives them back: what flows in is
// a *probes.Sample a tick (and findings and marks), what flows out, from any
// prefix of the file, is the same samples bit for bit, as a probes.Source.
//
// A recording (*.llmrec) is one append-only file of CRC-framed records; nothing
// written is ever overwritten, each frame is written at once, and a damaged
// record costs at most the rest of its group of 64. FORMAT.md is the layout,
// byte by byte. What samples mean is left to others: the scrapes' series are
// kept raw. No prompt text, credentials or URL user info is ever stored.
package record
