package judge

import (
	"slices"
	"strings"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/probes"
	"llmtop/rules"
)

// ofProduct is the verdict that a diagnosis says.
func ofProduct(d *rules.Diagnosis) drill.Verdict {
	v := drill.Verdict{At: d.Time, State: string(d.State), Stage: mostAdded(d)}
	for i := range d.Causes {
		c := &d.Causes[i]
		v.Causes = append(v.Causes, c.ID)
		if c.Limit {
			v.Limits = append(v.Limits, c.ID)
		}
		for _, u := range c.Unseen {
			v.Lacks = note(v.Lacks, lack(u))
		}
	}
	for _, f := range slices.Concat(d.Notes, d.Risks) {
		v.Says = note(v.Says, f.ID)
	}
	slices.Sort(v.Lacks)
	return v
}

// mostAdded is the stage that holds most of what was added to the latency that grew most;
// where that one is not split, of the first that is.
func mostAdded(d *rules.Diagnosis) (stage string) {
	worst, _ := d.Worst()
	family, _, _ := strings.Cut(worst.Signal, ".")
	of := func(a rules.Attribution) bool { return a.Of == family }
	if !slices.ContainsFunc(d.Attribution, of) {
		of = func(a rules.Attribution) bool { return a.Of == d.Attribution[0].Of }
	}
	most := 0.0
	for _, a := range d.Attribution {
		if of(a) && a.DeltaSeconds > most {
			stage, most = a.Stage, a.DeltaSeconds
		}
	}
	return stage
}

func note(list []string, what string) []string {
	if what == "" || slices.Contains(list, what) {
		return list
	}
	return append(list, what)
}

// sources are the names by which drills call what the kinds of evidence need.
var sources = map[string]string{"gpu": "gpu", "host": "host", "process": "host", "neighbour": "host", "socket": "host", "stage": "stages", "profile": "profile"}

// absences are the words for a reading that is not there, as evidence writes them behind
// its title.
var absences = []probes.Absence{probes.NotSeen, probes.NotExposed, probes.Unsupported, probes.NoPermission, probes.Lost, probes.Stale}

// kinds are the kinds of evidence by title of the signal.
var kinds = func() map[string]string {
	out := map[string]string{}
	for _, s := range table {
		out[s.Title] = s.Kind
		if s.Kind == "stage" {
			out["time in "+s.Title] = s.Kind
		}
	}
	return out
}()

// lack is the source that an unseen clause says it cannot see: "gpu.sm_active < 75%: SM
// active not seen". "" for a clause that lacks no source but a baseline or history.
func lack(unseen string) string {
	if strings.Contains(unseen, "no split of the added ") {
		return "stages"
	}
	why := unseen[strings.LastIndex(unseen, ": ")+1:]
	for _, a := range absences {
		if title, found := strings.CutSuffix(why, " "+a.String()); found {
			return sources[kinds[strings.TrimSpace(title)]]
		}
	}
	return ""
}
