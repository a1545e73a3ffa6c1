package panes

// helpScreen lies over the panes: the verdict stays, the keys and signs follow.
func helpScreen(v *view, w, h int) []row {
	var rows []row
	line := func(sign, text string) {
		rows = append(rows, row{}.add(plain, " ").left(strong, min(17, w/2), sign).add(plain, text))
	}
	for _, k := range keyTable() {
		line(k.label, k.help)
	}
	rows = append(rows, rule(w, "signs", ""))
	for _, s := range signs {
		line(s.sign, s.help)
	}
	verdict := verdictRows(v, w, 1)
	return append(verdict, scrolled(v, w, "keys", "? closes this", rows, h-len(verdict)-1)...)
}

// signs explains what is not a word.
var signs = [...]struct{ sign, help string }{
	{"–", "not measured; never means 0"},
	{"↑ ×2.4 of 50 ms", "the value is 2.4 times its normal, 50 ms"},
	{"≈", "within 30 % of normal"},
	{"HEALTHY?", "something is up, not yet for long enough to be sure"},
	{"<300 ms  >80 s", "below the lowest, beyond the last bucket the engine counts in"},
	{"+2", "so many engines more"},
	{"TPOT ×3.1", "this engine's is 3.1 times that of its peers"},
	{"╎", "a gap: nothing was sampled there"},
	{"5 s old", "the source is silent; the last values known, dimmed"},
	{"✓ ✗ ? →", "evidence, ruled out, could not be seen, what to do"},
	{"▚ ▓ ▒ █ ░", "tokenize, queue, prefill, decode, other stages"},
	{"noise", "what a signal swings by in the quieter of two stretches"},
	{"kern", "time in which any GPU kernel ran, not how much of the GPU"},
}
