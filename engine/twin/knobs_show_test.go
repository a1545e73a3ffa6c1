package twin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"llmtop/engine/twin"
	"llmtop/engine/twin/knob"
	"llmtop/rules"
)

// shows is what a knob must be seen to do in the signals that llmtop computes from a run. A
// mild turn has to leave alone the same signals as the severe one, which has to move those named.
type shows struct {
	knob         knob.ID
	mild, severe string   // turns, apart by ";"
	before       string   // turns of the run that it is held against, too
	on           string   // scenario; empty: "tp"
	slow         bool     // it takes a minute more until it is seen
	up, down     []string // signals that the severe turn moves by moved and more; one that is 0 or missing before is up when it is there
	gone         []string // signals that are missing then
	may          []string // quiet ones that may move
}

// moved is how much a signal has to move, as a part of what it was.
const moved = 0.1

// The scenarios that knobs are turned in.
var worlds = map[string]string{
	"tp":     "gpu h100x2\nmodel llama-3-8b\ntp 2\nengine vllm max_num_seqs=64\ncpus 16\nworkload chat rate=10\n",
	"two":    "gpu h100x2\nmodel llama-3-8b\nreplicas 2\nengine vllm max_num_seqs=64\ncpus 16\nworkload chat rate=12\n",
	"spec":   "gpu h100x2\nmodel llama-3-8b\ntp 2\nengine vllm max_num_seqs=64 drafts=3\ncpus 16\nworkload chat rate=10\n",
	"pd":     "gpu h100x2\nmodel llama-3-8b\nreplicas 2\ndisaggregate 1\nengine vllm\ncpus 16\nworkload chat rate=10\n",
	"pcie":   "gpu l40sx2\nmodel llama-3-8b\ntp 2\nengine vllm max_num_seqs=64\ncpus 16\nworkload chat rate=5\n",
	"four":   "gpu h100x4\nmodel llama-3-8b\ntp 4\nengine vllm max_num_seqs=64\ncpus 32\nworkload chat rate=10\n",
	"canary": "gpu h100x2\nmodel llama-3-8b\ntp 2\nengine vllm max_num_seqs=64\ncpus 16\nworkload chat rate=10\ncanary 2s\n",
	"quiet":  "gpu h100x1\nmodel llama-3-8b\nengine vllm\ncpus 8\nworkload chat rate=0.2\n",
}

// quiet are the signals each of which tells of causes of its own: they stay in these bounds unless
// the knob is such a cause.
var quiet = map[string][2]float64{
	"gpu.lost": {0, 0}, "gpu.xid": {0, 0}, "gpu.ecc_uncorrected": {0, 0}, "gpu.remap_pending": {0, 0}, "gpu.recovery_wanted": {0, 0},
	"gpu.power_braked": {0, 0}, "gpu.heat_slowed": {0, 0}, "gpu.throttle_sync_time": {0, 0}, "gpu.nvlinks_down": {0, 0},
	"gpu.other_processes": {0, 0}, "gpu.other_active": {0, 0}, "gpu.pcie_link": {1, 1}, "gpu.sm_clock_ratio": {0.94, 1}, "gpu.limit_ratio": {1, 1}, "gpu.spread": {0.9, 1},
	"process.throttled": {0, 0}, "process.throttled_time": {0, 0}, "process.run_wait": {0, 0.06}, "process.numa_remote": {0, 0.5}, "process.blocked": {0, 0},
	"process.major_faults": {0, 0}, "process.oom_kills": {0, 0}, "process.disk_read": {0, 0}, "host.steal": {0, 0}, "host.other_share": {0, 0.06}, "host.memory_pressure": {0, 0.01}, "host.swap_in": {0, 0},
	"host.io_pressure": {0, 0.02}, "host.disk_wait": {0, 0.003}, "host.iowait": {0, 0.01}, "host.retransmits": {0, 0.002}, "host.net_share": {0, 0.05}, "socket.stuck": {0, 0},
	"kv.preemption_rate": {0, 0}, "refused.share": {0, 0}, "errors.rate": {0, 0.05}, "engine.stalled": {0, 2}, "instance.silent": {0, 0},
	"profile.gc_share": {0, 0.01}, "profile.lock_share": {0, 0.01}, "profile.tokenize_share": {0, 0.09}, "profile.detokenize_share": {0, 0.06},
}

// reading is the mean of each signal in the second half of a run; missing ones are not in it.
type reading map[string]float64

const (
	turnAt   = 5 * time.Second
	readFrom = 20 * time.Second
	readTo   = 40 * time.Second
	warm     = 20 * time.Second
)

// watch runs a world with turns and reads its signals.
func watch(world, before, turns string, later time.Duration) (reading, error) {
	text := worlds[world]
	for at, lines := range map[string]string{"1500ms": before, turnAt.String(): turns} {
		for line := range strings.SplitSeq(lines, ";") {
			if line = strings.TrimSpace(line); line != "" {
				text += "at " + at + " " + line + "\n"
			}
		}
	}
	sc, err := twin.Parse(strings.NewReader(text), "test")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	sc.Duration, sc.Warm = readTo+later, warm
	run, err := twin.New(sc)
	if err != nil {
		return nil, err
	}
	book, err := theBook()
	if err != nil {
		return nil, err
	}
	d, sum, count := rules.NewDiagnoser(book, rules.Options{}), reading{}, map[string]float64{}
	for {
		s, err := run.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		tick := d.Observe(s)
		for i, row := range rules.Table() {
			if v, ok := tick.Signals[i].Get(); ok && s.Mono > readFrom+later {
				sum[row.Name] += v
				count[row.Name]++
			}
		}
	}
	for name := range sum {
		sum[name] /= count[name]
	}
	return sum, nil
}

// theBook is read once.
var theBook = sync.OnceValues(rules.DefaultBook)

// healthy keeps what worlds look like with nothing turned.
var healthy struct {
	sync.Mutex
	of map[string]reading
}

func healthyOf(world, before string, later time.Duration) (reading, error) {
	healthy.Lock()
	defer healthy.Unlock()
	key := fmt.Sprintln(world, before, later)
	if r := healthy.of[key]; r != nil {
		return r, nil
	}
	r, err := watch(world, before, "", later)
	if healthy.of == nil {
		healthy.of = map[string]reading{}
	}
	healthy.of[key] = r
	return r, err
}

// TestKnobsShow: what a knob does is to be seen where a real host would show it, and nowhere else.
func TestKnobsShow(t *testing.T) {
	for i := range shown {
		row := &shown[i]
		t.Run(knob.Table[row.knob].Name, func(t *testing.T) {
			t.Parallel()
			world := row.on
			if world == "" {
				world = "tp"
			}
			later := time.Duration(0)
			if row.slow {
				later = time.Minute
			}
			was, err := healthyOf(world, row.before, later)
			if err != nil {
				t.Fatal(err)
			}
			all := []string{row.severe, row.mild}
			if testing.Short() || twin.UnderRace { // a run has one goroutine
				all = all[:1]
			}
			for _, turns := range all {
				is, err := watch(world, row.before, turns, later)
				if err != nil {
					t.Fatal(err)
				}
				row.still(t, turns, is)
				if turns == row.severe {
					row.moves(t, was, is)
				}
			}
		})
	}
}

// still checks the quiet signals that the row does not name.
func (row *shows) still(t *testing.T, turns string, is reading) {
	for name, bounds := range quiet {
		if row.names(name) {
			continue
		}
		if v, ok := is[name]; ok && (v < bounds[0]-1e-9 || v > bounds[1]+1e-9) {
			t.Errorf("%s: %s is %.4g; what is turned has nothing to do with it", turns, name, v)
		}
	}
}

func (row *shows) names(signal string) bool {
	for _, list := range [][]string{row.up, row.down, row.gone, row.may} {
		for _, name := range list {
			if name == signal {
				return true
			}
		}
	}
	return false
}

// moves checks the signals that the row names.
func (row *shows) moves(t *testing.T, was, is reading) {
	check := func(names []string, holds func(a, b float64, there, still bool) bool, what string) {
		for _, name := range names {
			if _, known := rules.Lookup(name); !known {
				t.Errorf("there is no signal %s", name)
			}
			a, there := was[name]
			b, still := is[name]
			if !holds(a, b, there, still) {
				t.Errorf("%s: %s is %.4g (there: %v), it was %.4g (there: %v): want it %s", row.severe, name, b, still, a, there, what)
			}
		}
	}
	check(row.up, func(a, b float64, _, still bool) bool { return still && b > a+moved*math.Abs(a) }, "up")
	check(row.down, func(a, b float64, there, still bool) bool { return there && still && b < a-moved*math.Abs(a) }, "down")
	check(row.gone, func(_, _ float64, there, still bool) bool { return there && !still }, "gone")
}

// TestEveryKnobShows: every knob has a row, and no row says nothing.
func TestEveryKnobShows(t *testing.T) {
	rows := map[knob.ID]int{}
	for i := range shown {
		row := &shown[i]
		rows[row.knob]++
		if len(row.up)+len(row.down)+len(row.gone) == 0 {
			t.Errorf("%s: its row says nothing", knob.Table[row.knob].Name)
		}
		if name := knob.Table[row.knob].Name; !strings.Contains(row.mild, name) || !strings.Contains(row.severe, name) {
			t.Errorf("%s is not what its row turns", name)
		}
	}
	for id := range knob.NumKnobs {
		if rows[id] == 0 {
			t.Errorf("nobody says what %s shows", knob.Table[id].Name)
		}
	}
}
