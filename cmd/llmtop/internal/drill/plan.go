package drill

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"time"
)

// Suites that can be planned, and engines they run on.
var (
	Suites  = []string{"train", "test", "ci"}
	Engines = []string{"twin", "cpu"}
)

// How often each drill is run with each severity: with seeds of its own in each suite. A run on
// the real engine takes as long as it takes, so there is one.
const (
	firstTrain, firstTest = 1, 101
	seeds, realSeeds      = 5, 1
	shortControl          = 30 * time.Minute // what takes longer is no part of the suite ci
)

// Plan are the runs of a suite in a fixed order: by id, severity, seed. Each seed has another
// of the worlds that fit, the same for all severities. The suite ci has one run a drill.
func Plan(suite, engine string) ([]Instance, error) {
	drills, err := All()
	if err != nil {
		return nil, err
	}
	worlds, err := Worlds()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(Suites, suite) {
		return nil, unknown("suite", suite, Suites)
	}
	if !slices.Contains(Engines, engine) {
		return nil, unknown("engine", engine, Engines)
	}
	return plan(drills, worlds, suite, engine), nil
}

func plan(drills []*Drill, worlds []*World, suite, engine string) []Instance {
	first, count := uint64(firstTrain), seeds
	if suite == "test" {
		first = firstTest
	}
	if engine == "cpu" {
		count = realSeeds
	}
	if suite == "ci" {
		count = 1
	}
	var all []Instance
	for _, d := range drills {
		if !d.runs(engine) || suite == "ci" && d.Kind == Healthy && d.lasts(engine) > shortControl {
			continue
		}
		for _, s := range d.planned(suite, engine) {
			for n := range count {
				i := Instance{Drill: d, Engine: engine, Severity: s, Seed: first + uint64(n)}
				if engine == "twin" {
					if i.World = d.world(worlds, i.Seed); i.World == nil {
						continue // none of this suite fits
					}
				}
				all = append(all, i)
			}
		}
	}
	return all
}

// runs reports whether it can be run on an engine.
func (d *Drill) runs(engine string) bool {
	if engine == "cpu" {
		return d.CPU != nil && d.CPU.Skip == ""
	}
	return d.Twin != nil && d.Twin.Skip == ""
}

// dial is that of an engine.
func (d *Drill) dial(engine string) *Dial {
	switch {
	case engine == "cpu" && d.CPU != nil:
		return d.CPU.Dial
	case engine == "twin" && d.Twin != nil:
		return d.Twin.Dial
	}
	return nil
}

// usual is how long a fault lasts when the file does not say.
const (
	usual     = 100 * time.Second
	usualReal = 60 * time.Second
)

// lasts is the time from the onset to the end, of a control that of the run.
func (d *Drill) lasts(engine string) time.Duration {
	if engine == "cpu" {
		return cmp.Or(time.Duration(d.CPU.Lasts), usualReal)
	}
	return cmp.Or(time.Duration(d.Twin.Lasts), usual)
}

// severities are those that it can have; a control has none.
func (d *Drill) severities(engine string) []Severity {
	if d.Kind == Healthy {
		return []Severity{""}
	}
	return d.dial(engine).Severities()
}

// planned are those of a suite: of ci the one in the middle.
func (d *Drill) planned(suite, engine string) []Severity {
	all := d.severities(engine)
	if suite != "ci" || slices.Contains(all, Medium) {
		if suite == "ci" {
			return []Severity{Medium}
		}
		return all
	}
	return all[:1]
}

// fits reports whether a world is what the drill needs.
func (t *OnTwin) fits(w *World) bool {
	if len(t.Worlds) > 0 && !slices.Contains(t.Worlds, w.Name) {
		return false
	}
	return !slices.ContainsFunc(t.Needs, func(tag string) bool { return !w.Has(tag) })
}

// world is that of a seed, which says the suite too: seeds below those of test are train's.
func (d *Drill) world(worlds []*World, seed uint64) *World {
	suite, n := "train", seed-firstTrain
	if seed >= firstTest {
		suite, n = "test", seed-firstTest
	}
	fit := slices.DeleteFunc(slices.Clone(worlds), func(w *World) bool { return w.Suite != suite || !d.Twin.fits(w) })
	if len(fit) == 0 {
		return nil
	}
	return fit[(hash(d.ID)+n)%uint64(len(fit))]
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// One is a single run as a plan would have it. Without a severity it is medium, or the one that
// the drill can have; without a world the one that the seed says.
func One(d *Drill, engine string, severity Severity, seed uint64, world string) (Instance, error) {
	i := Instance{Drill: d, Engine: engine, Severity: severity, Seed: seed}
	if !slices.Contains(Engines, engine) {
		return i, unknown("engine", engine, Engines)
	}
	if !d.runs(engine) {
		return i, fmt.Errorf("drill %s is not run on engine %s%s", d.ID, engine, d.why(engine))
	}
	can := d.severities(engine)
	switch {
	case severity == "":
		i.Severity = d.planned("ci", engine)[0]
	case !slices.Contains(can, severity):
		return i, fmt.Errorf("drill %s cannot be %.20q: it has %v", d.ID, severity, can)
	}
	if engine != "twin" {
		if world != "" {
			return i, fmt.Errorf("worlds are of the twin: the engine %s runs on this machine", engine)
		}
		return i, nil
	}
	var err error
	if world != "" {
		i.World, err = LookupWorld(world)
		if err == nil && !d.Twin.fits(i.World) {
			err = fmt.Errorf("drill %s does not fit world %s: it needs %v", d.ID, world, slices.Concat(d.Twin.Needs, d.Twin.Worlds))
		}
		return i, err
	}
	worlds, err := Worlds()
	if err == nil {
		if i.World = d.world(worlds, seed); i.World == nil {
			err = fmt.Errorf("drill %s fits no world of the suite that seed %d is of", d.ID, seed)
		}
	}
	return i, err
}

// why is the reason that the file gives.
func (d *Drill) why(engine string) string {
	switch {
	case engine == "cpu" && d.CPU != nil && d.CPU.Skip != "":
		return ": " + d.CPU.Skip
	case engine == "twin" && d.Twin != nil && d.Twin.Skip != "":
		return ": " + d.Twin.Skip
	}
	return ""
}
