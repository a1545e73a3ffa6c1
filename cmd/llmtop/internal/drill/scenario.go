package drill

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmtop/engine/twin"
)

// The onset is drawn between these times of a run, so that nobody can wait for it.
const (
	onsetFrom = 60 * time.Second
	onsetTo   = 100 * time.Second
)

// staged is an instance with its strength, ready to be run on the twin.
type staged struct {
	twin.Scenario
	Onset time.Duration // of the fault, since the run began
}

// chance is what is drawn for an instance. All severities and strengths of a drill with one seed
// have the same luck, and no two drills do.
type chance struct {
	seed  uint64 // of the scenario
	onset time.Duration
	start time.Time
}

func (i *Instance) chance() chance {
	r := rand.New(rand.NewPCG(i.Seed, hash(i.Drill.ID)))
	return chance{
		seed:  uint64(r.Uint32()),
		onset: onsetFrom + time.Duration(r.Int64N(int64(onsetTo-onsetFrom))).Truncate(time.Millisecond),
		start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(300*24*3600)) * time.Second),
	}
}

// stage writes the scenario of an instance whose fault has this strength, and reads it.
func (i *Instance) stage(x float64) (staged, error) {
	d, t, luck := i.Drill, i.Drill.Twin, i.chance()
	workload, load := i.World.Workload, i.World.Load
	if t.Workload != "" {
		workload = filled(t.Workload, t.Dial, x)
	}
	if t.Load > 0 {
		load = t.Load
	}
	end := luck.onset + d.lasts("twin")
	if d.Kind == Healthy {
		end = d.lasts("twin")
	}
	lines := []string{
		fmt.Sprintf("seed %d", luck.seed), "canary 10s", "start " + luck.start.Format(time.RFC3339),
		"duration " + end.Round(time.Second).String(),
	}
	lines = merged(lines, i.World.Lines)
	var more []string
	for _, l := range t.Lines {
		more = append(more, filled(l, t.Dial, x))
	}
	lines = merged(lines, more)
	for _, turn := range t.Turns {
		after, rest, err := splitTurn(filled(turn, t.Dial, x))
		if err != nil {
			return staged{}, fmt.Errorf("drill %s: %q: %w", d.ID, turn, err)
		}
		lines = append(lines, fmt.Sprintf("at %s %s", luck.onset+after, rest))
	}
	sc, err := parseScenario(lines, workload, load)
	if err != nil {
		return staged{}, fmt.Errorf("drill %s in world %s: %w", d.ID, i.World.Name, err)
	}
	return staged{sc, luck.onset}, nil
}

// splitTurn takes the time after the onset from a turn: "+20s kv_pool ×0.3".
func splitTurn(text string) (after time.Duration, rest string, err error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "+") {
		return 0, text, nil
	}
	word, rest, _ := strings.Cut(text, " ")
	if after, err = time.ParseDuration(word[1:]); err != nil || after < 0 {
		return 0, "", fmt.Errorf("a time after the onset is written +20s, not %.40q", word)
	}
	return after, strings.TrimSpace(rest), nil
}

// parseScenario reads lines with a workload whose rate is a share of what the deployment can serve.
func parseScenario(lines []string, workload string, load float64) (twin.Scenario, error) {
	text := func(rate float64) string {
		all := slices.Concat(lines, []string{"workload " + workload + " rate=" + strconv.FormatFloat(rate, 'g', 4, 64)})
		return strings.Join(all, "\n")
	}
	trial, err := twin.Parse(strings.NewReader(text(1)), made)
	if err != nil {
		return trial, inLine(err, text(1))
	}
	can, err := trial.Estimate()
	if err != nil {
		return trial, err
	}
	sc, err := twin.Parse(strings.NewReader(text(load*can.Capacity)), made)
	if err != nil {
		return sc, inLine(err, text(load*can.Capacity))
	}
	sc.Name = ""
	return sc, nil
}

// made is what a scenario is called that nobody has written.
const made = "scenario"

// inLine is an error of such a scenario with the line itself, of which nobody could know the number.
func inLine(err error, text string) error {
	number, rest, ok := strings.Cut(strings.TrimPrefix(err.Error(), made+":"), ":")
	n, bad := strconv.Atoi(number)
	if lines := strings.Split(text, "\n"); ok && bad == nil && n > 0 && n <= len(lines) {
		return fmt.Errorf("%q:%s", lines[n-1], rest)
	}
	return err
}

// merged adds lines to others. Settings of the engine are added to those that are there; what
// else may be said once takes the place of what was said.
func merged(lines, more []string) []string {
	out := slices.Clone(lines)
	for _, l := range more {
		word, _, _ := strings.Cut(strings.TrimSpace(l), " ")
		at := slices.IndexFunc(out, func(o string) bool { w, _, _ := strings.Cut(o, " "); return w == word })
		switch {
		case at < 0 || word == "at" || word == "workload":
			out = append(out, l)
		case word == "engine":
			out[at] = mergedEngine(out[at], l)
		default:
			out[at] = l
		}
	}
	return out
}

// mergedEngine is a statement engine with what another sets.
func mergedEngine(line, more string) string {
	words := strings.Fields(line)
	for _, w := range strings.Fields(more)[1:] {
		name, _, isSetting := strings.Cut(w, "=")
		at := slices.IndexFunc(words, func(o string) bool { n, _, _ := strings.Cut(o, "="); return isSetting && n == name })
		switch {
		case at >= 0:
			words[at] = w
		case !isSetting && len(words) > 1 && !strings.Contains(words[1], "="):
			words[1] = w
		case !isSetting:
			words = slices.Insert(words, 1, w)
		default:
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}
