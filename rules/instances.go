package rules

import (
	"sort"
	"time"

	"llmtop/probes"
)

// Instance is one of the engines that are looked at, told apart as far as they are: a
// data-parallel rank behind one page, or an endpoint. Rates, means and factors
// are of the wide span, and known where there is more than one.
type Instance struct {
	Engine       *probes.Engine      // its newest readings
	Silent       time.Duration       // how old they are, when that is too old to stand for now
	TokensOut    probes.Opt[float64] // per second
	TTFT         probes.Opt[float64] // means, seconds
	TPOT         probes.Opt[float64]
	Observed     float64             // requests behind TTFT
	TTFTOfPeers  probes.Opt[float64] // own mean over the median of its peers'
	TPOTOfPeers  probes.Opt[float64]
	QueueOfPeers probes.Opt[float64] // own waiting requests + 1 over the median of its peers' + 1
}

// Name is the address, and behind it which of the engines there.
func (i *Instance) Name() string {
	if i.Engine.Instance == "" {
		return i.Engine.Endpoint
	}
	return i.Engine.Endpoint + " " + i.Engine.Instance
}

// mostInstances bounds the engines that are told apart.
const mostInstances = 64

// instances are the engines of the newest point. With one there are no peers.
func (n *now) instances() []Instance {
	var out []Instance
	for _, e := range n.point.Engines {
		parts := e.Parts
		if len(parts) == 0 {
			parts = []*probes.Engine{e}
		}
		for _, part := range parts {
			if len(out) < mostInstances {
				out = append(out, n.instance(part))
			}
		}
	}
	if len(out) > 1 {
		for i := range out {
			n.measure(&out[i])
		}
		againstPeers(out)
	}
	return out
}

func (n *now) instance(e *probes.Engine) Instance {
	i := Instance{Engine: e}
	if age := n.at.Sub(e.At); age > n.stale {
		i.Silent = age
	}
	return i
}

// measure adds what an instance did over the wide span.
func (n *now) measure(i *Instance) {
	e := i.Engine
	i.TokensOut = n.wide.Rate(func(p *probes.Point) (float64, time.Time, bool) {
		own := tellerOf(e).in(p, generationTokens.told)
		if own == nil {
			return 0, time.Time{}, false
		}
		v, ok := own.GenerationTokens.Get()
		return v, own.At, ok
	})
	ttft := n.observedBy(e, ttftHistogram)
	if i.TTFT = ttft.Mean(); ttft != nil {
		i.Observed = ttft.Count
	}
	i.TPOT = n.observedBy(e, tpotHistogram).Mean()
}

// observedBy is what one engine's histogram gathered over the wide span.
func (n *now) observedBy(e *probes.Engine, d distribution) *probes.Histogram {
	return n.wide.Observed(func(p *probes.Point) (*probes.Histogram, time.Time) {
		if own := tellerOf(e).in(p, d.told); own != nil {
			return d.of(own), own.At
		}
		return nil, time.Time{}
	})
}

// againstPeers holds each instance against those of its role and model.
func againstPeers(all []Instance) {
	for i := range all {
		var ttft, tpot, queue []float64
		me := &all[i]
		for j := range all {
			peer := &all[j]
			if i == j || peer.Engine.Role != me.Engine.Role || peer.Engine.Model != me.Engine.Model || peer.Silent > 0 {
				continue
			}
			if v, ok := peer.TTFT.Get(); ok && peer.Observed >= enough {
				ttft = append(ttft, v)
			}
			if v, ok := peer.TPOT.Get(); ok {
				tpot = append(tpot, v)
			}
			if v, ok := peer.Engine.Waiting.Get(); ok {
				queue = append(queue, v+1)
			}
		}
		if me.Silent > 0 {
			continue
		}
		if me.Observed >= enough {
			me.TTFTOfPeers = over(me.TTFT, ttft)
		}
		me.TPOTOfPeers = over(me.TPOT, tpot)
		if v, ok := me.Engine.Waiting.Get(); ok {
			me.QueueOfPeers = over(probes.Some(v+1), queue)
		}
	}
}

// over is a value over the median of others.
func over(value probes.Opt[float64], others []float64) probes.Opt[float64] {
	v, ok := value.Get()
	if !ok || len(others) == 0 {
		return missing()
	}
	sort.Float64s(others)
	middle := (others[(len(others)-1)/2] + others[len(others)/2]) / 2
	if middle <= 0 {
		return missing()
	}
	return probes.Some(v / middle)
}
