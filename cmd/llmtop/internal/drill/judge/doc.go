// Package judge says what the product and the baselines make of a recording. It reads the
// recording and nothing else: what was done in the run it cannot know. In one pass each
// sample is folded by a rules.Diagnoser; the product's verdict is its Diagnosis, those of the
// baselines are made of the same tick's signals, never of the Diagnosis. Every number that
// the product shows on the way is held against the raw samples (package truth).
package judge
