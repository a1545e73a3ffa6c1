package device

import "math"

// Power of what is clocked goes with f·V²; the voltage rises with the clock, from lowVoltage of
// that at the highest clock. So the last tenth of the clock is the dearest.
const lowVoltage = 0.5

// thirst is the power of a clock over that of the highest one, both as parts.
func thirst(clock float64) float64 {
	v := lowVoltage + (1-lowVoltage)*clock
	return clock * v * v
}

// clockFor is the clock with a thirst. It is found from above, where the curve is steeper than
// its tangent is long: Newton's steps stay above the root.
func clockFor(want float64) float64 {
	if want >= 1 {
		return 1
	}
	c := 1.0
	for range 5 {
		v := lowVoltage + (1-lowVoltage)*c
		slope := v*v + 2*c*v*(1-lowVoltage)
		c -= (c*v*v - want) / slope
	}
	return max(c, 0)
}

// held is the clock at which a limit is kept, and the share of the time in which it is felt.
// Within a step the power that is wanted strays evenly by burst around its mean: a board whose
// mean is below the limit touches it at times, and only then gives way.
func held(base, rate, ceiling, limit, burst float64) (clock, share float64) {
	wanted := rate * thirst(ceiling)
	low, high, room := wanted*(1-burst), wanted*(1+burst), limit-base
	if high <= room {
		return ceiling, 0
	}
	if room <= 0 {
		return leastClock, 1
	}
	share = min((high-room)/(high-low), 1)
	over := (high + max(room, low)) / 2 / wanted // mean of what is wanted while it is too much
	down := min(clockFor(room/(rate*over)), ceiling)
	return share*down + (1-share)*ceiling, share
}

// How fast clocks move, in seconds.
const (
	fallTime = 0.06
	riseTime = 0.2
)

// turn moves the clocks towards what power, heat, the brake and a lock leave.
func (g *gpu) turn(s *Spec, k *settings, dt, base, rate float64) {
	g.byPower, g.byHeat = 0, 0
	idle := s.IdleClock / s.SMClock
	if g.idling {
		g.clock, g.waking, g.locked = idle, false, false
		return
	}
	ceiling := k.lock
	if k.brake {
		ceiling /= 2
	}
	budget := g.budget(s, k)
	target, share := held(base, rate, ceiling, min(k.limit, budget), g.burst)
	if budget < k.limit {
		target, g.byHeat = max(target, min(heatFloor, ceiling)), share
	} else {
		g.byPower = share
	}
	if g.hot {
		target /= 2
	}
	target = max(target, min(leastClock, ceiling))
	g.locked = k.lock < 1 && ceiling == k.lock && share < 1 && !g.hot
	switch tau := riseTime; {
	case g.waking:
		g.clock += (1 - idle) * dt / g.rise.Seconds()
		if g.waking = g.clock < target; !g.waking {
			g.clock = target
		}
	default:
		if target < g.clock {
			tau = fallTime
		}
		g.clock += (target - g.clock) * (1 - math.Exp(-dt/tau))
	}
}

const (
	coolBy        = 4.0 // °C below the slowdown at which hardware lets go
	shutdownAbove = 8.0 // °C above it at which the board switches itself off
	ahead         = 4.0 // s: how soon software wants to be at the temperature it holds
)

// budget is the power at which software expects the board to settle at the temperature where it
// is to be held, the nearer it is to that the more carefully.
func (g *gpu) budget(s *Spec, k *settings) float64 {
	at := s.Operating
	return max(0, (at-or(k.inlet, g.inlet))*k.cooling/g.resistance+g.capacity*(at-g.celsius)/ahead)
}

// warm takes the temperature over a step: towards that at which as much heat goes as comes.
func (g *gpu) warm(s *Spec, k *settings, dt, dram float64) {
	resistance := g.resistance / k.cooling
	end := or(k.inlet, g.inlet) + g.watts*resistance
	g.celsius = end + (g.celsius-end)*math.Exp(-dt/(resistance*g.capacity))
	g.memory += (g.celsius + 3 + 9*dram - g.memory) * (1 - math.Exp(-dt/8))
	switch {
	case g.celsius >= s.Slowdown+shutdownAbove:
		g.fell = true
	case g.celsius >= s.Slowdown:
		g.hot = true
	case g.celsius < s.Slowdown-coolBy:
		g.hot = false
	}
}
