package rules

import "llmtop/probes"

// specRows are speculative decoding: how many of the guessed tokens hold, and what a
// step yields. They are missing where no drafts are made.
func specRows() []Signal {
	const metrics = "engine metrics"
	return []Signal{
		{Name: "spec.acceptance", Title: "drafts accepted", Unit: "ratio", Kind: "engine", Step: 0.05, at: acceptance,
			Formula: "draft tokens accepted over draft tokens guessed", Source: "speculation counters, else the engine's own ratio", Needs: metrics, Export: exportName("spec.acceptance", "ratio", "")},
		{Name: "spec.step_tokens", Title: "tokens a verified step", Unit: "tokens", Kind: "engine", Step: 0.1, at: func(n *now) probes.Opt[float64] {
			drafts, _ := n.increase(n.span.View, specDrafts)
			accepted, _ := n.increase(n.span.View, specAccepted)
			d, ok := drafts.Get()
			a, ok2 := accepted.Get()
			if !ok || !ok2 || d <= 0 {
				return missing()
			}
			return probes.Some(1 + a/d)
		}, Formula: "1 + accepted draft tokens over drafts: what one verification yields", Source: "speculation counters", Needs: metrics, Export: exportName("spec.step", "tokens", "")},
	}
}

func acceptance(n *now) probes.Opt[float64] {
	accepted, _ := n.increase(n.span.View, specAccepted)
	guessed, _ := n.increase(n.span.View, specDraftTokens)
	a, ok := accepted.Get()
	g, ok2 := guessed.Get()
	switch {
	case ok && ok2 && g > 0:
		return probes.Some(a / g)
	case ok && ok2:
		return missing()
	}
	return n.gauge(specAcceptance, func(a, b float64) float64 { return min(a, b) })
}
