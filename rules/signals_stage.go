package rules

import "llmtop/probes"

// stageRows are the links of the chain: seconds per request, and the share of
// the whole. Stages before the first token are taken from the requests of
// ttft.mean (waiting ones with the stages so far), later ones from finished requests.
func stageRows() []Signal {
	var rows []Signal
	for i := range numParts {
		rows = append(rows, Signal{Name: "stage." + partName(i) + ".mean", Title: partName(i), Unit: "s", Kind: "stage", Step: 0.005,
			Formula: "seconds per request in stage " + partName(i) + newest, Source: "request records, else histogram sums (frontend = TTFT − queue − prefill)",
			Needs: "requests or engine metrics", Export: exportName("stage", "s", `stage="`+partName(i)+`"`),
			at: func(n *now) probes.Opt[float64] { return n.means[i] }})
	}
	for i := range numParts {
		rows = append(rows, Signal{Name: "stage." + partName(i) + ".share", Title: partName(i) + " share", Unit: "ratio", Kind: "stage", Step: 0.1,
			Formula: "stage." + partName(i) + ".mean over the sum of all", Source: "as stage." + partName(i) + ".mean",
			Needs: "requests or engine metrics", Export: exportName("stage.share", "ratio", `stage="`+partName(i)+`"`),
			at: func(n *now) probes.Opt[float64] { return n.stageShare(i) }})
	}
	return rows
}

// stageMean reads the TTFT set up to the first token and the finished set after
// it. A stage that the engine does not tell apart is not exposed.
func (n *now) stageMean(i int) probes.Opt[float64] {
	set := n.stages.e2e
	if i <= int(probes.StagePrefill) || (i == partFrontend && n.stages.ttft.n > 0) {
		set = n.stages.ttft
	}
	if set.n == 0 && n.ttft.count() == 0 && n.records.partial {
		set = n.stages.e2e // an engine that does not tell the TTFT (TGI)
	}
	if set.n > 0 && ((i == partFrontend) != set.coarse && !coarseStage(i)) {
		return probes.None[float64](probes.NotExposed)
	}
	return set.mean(i)
}

// coarseStage reports the stages told apart even by histograms.
func coarseStage(i int) bool {
	return i == int(probes.StageQueue) || i == int(probes.StagePrefill) || i == int(probes.StageDecode)
}

func (n *now) stageShare(i int) probes.Opt[float64] {
	mean, ok := n.means[i].Get()
	if !ok || n.total <= 0 {
		return n.means[i] // missing, with its reason; 0 of 0 is 0
	}
	return probes.Some(mean / n.total)
}
