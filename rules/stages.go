package rules

import "llmtop/probes"

// The parts an added latency is split into: the stages, and the frontend, which
// stands for everything before the queue where the stages are not told apart.
const (
	partFrontend = int(probes.NumStages)
	numParts     = partFrontend + 1
)

func partName(i int) string {
	if i == partFrontend {
		return "frontend"
	}
	return probes.StageNames[i]
}

// partIndex is the reverse of partName; ok is false for an unknown name.
func partIndex(name string) (int, bool) {
	for i := range numParts {
		if partName(i) == name {
			return i, true
		}
	}
	return 0, false
}

// parts are sums of seconds over n requests (or tokens), by part, adding up to total.
type parts struct {
	n, total float64
	sum      [numParts]float64
	coarse   bool // frontend, queue, prefill, decode only
}

// mean is seconds per request in one part.
func (p parts) mean(i int) probes.Opt[float64] {
	if p.n <= 0 {
		return missing()
	}
	return probes.Some(p.sum[i] / p.n)
}

// plus adds two sets of sums; coarse wins over fine.
func (p parts) plus(q parts) parts {
	switch {
	case p.n == 0:
		return q
	case q.n == 0:
		return p
	case p.coarse != q.coarse:
		p, q = p.coarsened(), q.coarsened()
	}
	p.n, p.total = p.n+q.n, p.total+q.total
	for i := range p.sum {
		p.sum[i] += q.sum[i]
	}
	return p
}

// coarsened folds the stages into the four that every engine can tell.
func (p parts) coarsened() parts {
	if p.coarse {
		return p
	}
	c := parts{n: p.n, total: p.total, coarse: true}
	for i, s := range p.sum {
		switch {
		case i == int(probes.StageQueue) || i == int(probes.StageBatch):
			c.sum[probes.StageQueue] += s
		case i == int(probes.StagePrefill) || i == int(probes.StageDecode):
			c.sum[i] += s
		default:
			c.sum[partFrontend] += s
		}
	}
	return c
}

// stageMeans are the parts of the now span: of the TTFT, of the time per output
// token and of the whole request.
type stageMeans struct{ ttft, tpot, e2e parts }
