// Package truth recomputes the numbers that a diagnosis shows from raw samples: symptoms,
// the split of the added latency, the values of each piece of evidence and every number in
// its words. In flow samples and what was said of them; out flows what they do not bear out.
// It is plain code after the formulas that package rules documents for its signals, written
// a second time: no window, history or computation of rules is used, only its table of names,
// titles and units. What raw series mean is left to package dialect.
package truth
