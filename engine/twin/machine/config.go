package machine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"llmtop/engine/twin/knob"
)

// Config is what a host and the engines on it are.
type Config struct {
	Cores       int // as the kernel counts them
	GPUs        int // those of all replicas at least
	Replicas    int
	TP, PP      int // of each replica; 0: 1
	Personality string
	Endpoints   []string      // of the replicas; those without one serve on ports 8000 and up
	Ports       int           // of InfiniBand, beside the interface to the clients
	MemoryBytes float64       // 0: what hosts with so many GPUs have
	WeightBytes float64       // files of the model
	Age         time.Duration // for how long the engines have run at Start; 0: hours, drawn
	Seed        uint64
	Spread      float64
	Board       *knob.Board
	Start       time.Time
}

// Bounds of a host that is simulated.
const (
	maxCores    = 4096
	maxReplicas = 64
	maxRanks    = 64 // of a replica
)

// check says what is wrong, and fills in what was left out.
func (c *Config) check() error {
	c.TP, c.PP = max(1, c.TP), max(1, c.PP)
	c.GPUs = max(c.GPUs, c.Replicas*c.ranks())
	switch {
	case c.Cores < 1 || c.Cores > maxCores:
		return fmt.Errorf("a host of %d cores: 1 to %d can be simulated", c.Cores, maxCores)
	case c.Replicas < 1 || c.Replicas > maxReplicas:
		return fmt.Errorf("%d replicas on a host: 1 to %d can be simulated", c.Replicas, maxReplicas)
	case c.TP*c.PP > maxRanks:
		return fmt.Errorf("%d ranks of a replica: at most %d can be simulated", c.TP*c.PP, maxRanks)
	case c.Ports < 0 || c.Ports > maxPorts:
		return fmt.Errorf("%d ports of InfiniBand: at most %d can be simulated", c.Ports, maxPorts)
	case c.Board == nil:
		return fmt.Errorf("a host without a board of knobs")
	}
	if c.MemoryBytes <= 0 {
		c.MemoryBytes = 192 * gib * float64(c.GPUs)
	}
	for i := len(c.Endpoints); i < c.Replicas; i++ {
		c.Endpoints = append(c.Endpoints[:i:i], "http://127.0.0.1:"+strconv.Itoa(8000+i))
	}
	return nil
}

func (c *Config) ranks() int { return c.TP * c.PP }

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// parameters are what differs from host to host.
type parameters struct {
	wake    float64 // share of its running that a thread waits at least: it is not put on a core at once
	burst   float64 // of the wait of work that comes at random
	slice   float64 // seconds that a thread runs before another one that is ready
	far     float64 // CPU time of work whose memory is at the other node
	write   float64 // seconds of a write to the disk
	read    float64
	writes  float64 // a second, of whoever
	weights float64 // bytes a second at which weights are read
	pages   float64 // a second, swapped in for each second that tasks wait for memory
	lines   float64 // bytes of a line that is logged
	trip    float64 // seconds to the clients and back
	lost    float64 // share of segments that are sent again
	others  float64 // cores that daemons take
	uptime  float64 // seconds
}

func drawParameters(d *draws, c *Config) parameters {
	return parameters{
		wake:    d.about(0.012),
		burst:   d.about(0.25),
		slice:   d.about(0.003),
		far:     1 + d.about(0.3),
		write:   d.about(0.0004),
		read:    d.about(0.00015),
		writes:  d.about(18),
		weights: d.about(3e9),
		pages:   d.about(6000),
		lines:   d.about(260),
		trip:    d.about(0.012),
		lost:    d.about(0.00004),
		others:  min(d.about(0.35), 0.1*float64(c.Cores)),
		uptime:  d.about(20 * 86400),
	}
}

// draws are the random numbers of one host.
type draws struct {
	*rand.Rand
	spread float64
}

// word tells the host's random numbers from those of others that begin with the same seed.
const word = 0x6d616368696e65

func newDraws(c *Config, stream uint64) *draws {
	return &draws{rand.New(rand.NewPCG(c.Seed, word^stream<<56)), c.Spread}
}

// about is a number near to mean: the logarithm has the spread, and no more than twice that.
func (d *draws) about(mean float64) float64 {
	return mean * math.Exp(d.spread*min(2, max(-2, d.NormFloat64())))
}

// count is a whole number whose mean is given, as near to it as can be.
func (d *draws) count(mean float64) float64 {
	whole := math.Floor(mean)
	if d.Float64() < mean-whole {
		whole++
	}
	return whole
}
