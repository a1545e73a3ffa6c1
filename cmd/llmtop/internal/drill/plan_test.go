package drill

import (
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/rules"
)

// some are drills and worlds that plans are made of here.
func some(t *testing.T) ([]*Drill, []*World) {
	t.Helper()
	dial := func() *Dial { return &Dial{From: 1, To: 10, Mild: 2, Medium: 3, Severe: 5} }
	drills := []*Drill{
		{ID: "a", Kind: Fault, Twin: &OnTwin{Dial: dial()}},
		{ID: "b", Kind: Fault, Twin: &OnTwin{Dial: dial(), Needs: []string{"two"}}, CPU: &OnCPU{Dial: &Dial{From: 1, To: 10, Severe: 5}}},
		{ID: "c", Kind: Fault, Twin: &OnTwin{Worlds: []string{"three"}}},
		{ID: "d", Kind: Fault, Twin: &OnTwin{Skip: "it cannot be"}},
		{ID: "e", Kind: Healthy, Twin: &OnTwin{Lasts: Duration(time.Hour)}},
		{ID: "f", Kind: Healthy, Twin: &OnTwin{Lasts: Duration(5 * time.Minute)}},
	}
	worlds := []*World{
		{Name: "one", Suite: "train"}, {Name: "two", Suite: "train", Tags: []string{"two"}}, {Name: "three", Suite: "train"},
		{Name: "four", Suite: "test"}, {Name: "five", Suite: "test", Tags: []string{"two"}},
	}
	return drills, worlds
}

func TestPlan(t *testing.T) {
	drills, worlds := some(t)
	count := func(all []Instance, id string) (n int, of []string) {
		for _, i := range all {
			if i.Drill.ID == id {
				n++
				if i.World != nil && !slices.Contains(of, i.World.Name) {
					of = append(of, i.World.Name)
				}
			}
		}
		slices.Sort(of)
		return n, of
	}
	for _, c := range []struct {
		suite, engine, id string
		runs              int
		worlds            string
	}{
		{"train", "twin", "a", 15, "one three two"}, {"test", "twin", "a", 15, "five four"}, {"ci", "twin", "a", 1, "three"},
		{"train", "twin", "b", 15, "two"}, {"test", "twin", "b", 15, "five"},
		{"train", "twin", "c", 5, "three"}, {"test", "twin", "c", 0, ""},
		{"train", "twin", "d", 0, ""},
		{"train", "twin", "e", 5, "one three two"}, {"ci", "twin", "e", 0, ""}, {"ci", "twin", "f", 1, "one"},
		{"train", "cpu", "a", 0, ""}, {"train", "cpu", "b", 1, ""}, {"ci", "cpu", "b", 1, ""},
	} {
		n, of := count(plan(drills, worlds, c.suite, c.engine), c.id)
		if got := strings.Join(of, " "); n != c.runs || (c.suite != "ci" && got != c.worlds) {
			t.Errorf("%s, %s, %s: %d runs in %q, want %d in %q", c.suite, c.engine, c.id, n, got, c.runs, c.worlds)
		}
	}
	// All severities of a seed are in one world, and the plan is the same each time.
	at := map[uint64]string{}
	all := plan(drills, worlds, "train", "twin")
	for _, i := range all {
		if i.Drill.ID != "a" {
			continue
		}
		if w := at[i.Seed]; w != "" && w != i.World.Name {
			t.Errorf("seed %d is in %s and %s", i.Seed, w, i.World.Name)
		}
		at[i.Seed] = i.World.Name
	}
	if !slices.Equal(all, plan(drills, worlds, "train", "twin")) {
		t.Error("two plans differ")
	}
}

func TestPlanErrors(t *testing.T) {
	if _, err := Plan("trian", "twin"); err == nil || !strings.Contains(err.Error(), "train") {
		t.Errorf("got %v", err)
	}
	if _, err := Plan("train", "twim"); err == nil || !strings.Contains(err.Error(), "twin") {
		t.Errorf("got %v", err)
	}
}

// A single run is the one of the plan.
func TestOne(t *testing.T) {
	for _, suite := range []string{"train", "test"} {
		all, err := Plan(suite, "twin")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range all {
			if got, err := One(want.Drill, "twin", want.Severity, want.Seed, ""); err != nil || got != want {
				t.Fatalf("got %v, %v, want %v", got, err, want)
			}
		}
	}
	d, _ := some(t)
	for _, c := range []struct {
		drill            *Drill
		engine, severity string
		world, want      string
	}{
		{d[0], "gpu", "", "", "there is no engine"}, {d[3], "twin", "", "", "it cannot be"}, {d[0], "cpu", "", "", "not run on engine cpu"},
		{d[0], "twin", "fatal", "", `cannot be "fatal"`}, {d[2], "twin", "mild", "", `cannot be "mild"`}, {d[0], "twin", "", "nowhere", "there is no world"},
		{d[1], "cpu", "", "nowhere", "worlds are of the twin"},
	} {
		if _, err := One(c.drill, c.engine, Severity(c.severity), 1, c.world); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// What the book is shaped by and what it is measured by have nothing in common: no seed, no
// world, no GPU with the same model, no load shape. Each shows a personality that the other has not,
// or the worlds of one personality differ in their load.
func TestSuitesAreApart(t *testing.T) {
	worlds, err := Worlds()
	if err != nil {
		t.Fatal(err)
	}
	hardware, loads := map[string]string{}, map[string]string{}
	for _, w := range worlds {
		sc, err := w.scenario()
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []struct {
			of  map[string]string
			key string
		}{{hardware, sc.GPU.Name + " " + sc.Model.Name}, {loads, w.Workload}} {
			if suite := what.of[what.key]; suite != "" && suite != w.Suite {
				t.Errorf("%s of world %s is in both suites", what.key, w.Name)
			}
			what.of[what.key] = w.Suite
		}
	}
	train, err := Plan("train", "twin")
	if err != nil {
		t.Fatal(err)
	}
	test, err := Plan("test", "twin")
	if err != nil {
		t.Fatal(err)
	}
	seeds := map[uint64]bool{}
	for _, i := range train {
		seeds[i.Seed] = true
		if i.World.Suite != "train" {
			t.Errorf("%s trains in %s", i.Drill.ID, i.World.Name)
		}
	}
	for _, i := range test {
		if seeds[i.Seed] || i.World.Suite != "test" {
			t.Errorf("%s is tested with seed %d in %s", i.Drill.ID, i.Seed, i.World.Name)
		}
	}
	if len(test) == 0 {
		t.Error("nothing is tested")
	}
}

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range Catalogue {
		if seen[id] || !isWord(id) {
			t.Errorf("%q", id)
		}
		seen[id] = true
	}
	if len(Catalogue) != 67 {
		t.Errorf("%d causes, the catalogue of engines has 67", len(Catalogue))
	}
}

// Every cause that a diagnosis may give is made by a drill, or there is a reason why not; never both.
func TestEveryCauseIsDrilled(t *testing.T) {
	drills, err := All()
	if err != nil {
		t.Fatal(err)
	}
	without, err := AllUndrilled()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string][]string{}
	for _, d := range drills {
		if !d.runs("twin") && !d.runs("cpu") {
			continue
		}
		for _, id := range slices.Concat(d.Expects, d.Allows) {
			by[id] = append(by[id], d.ID)
		}
	}
	drilled := 0
	reasons := map[string]bool{}
	for _, u := range without {
		reasons[u.ID] = true
	}
	book, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	ids := slices.Clone(Catalogue)
	for _, r := range book.Rules {
		if !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	for _, id := range ids {
		switch {
		case len(by[id]) > 0 && reasons[id]:
			t.Errorf("%s is drilled by %s, and there is a reason why it is not", id, strings.Join(by[id], ", "))
		case len(by[id]) == 0 && !reasons[id]:
			t.Errorf("%s is neither drilled nor is there a reason", id)
		case len(by[id]) > 0:
			drilled++
		}
	}
	if drilled < 60 {
		t.Errorf("%d causes are drilled, fewer than 60", drilled)
	}
}

// Every drill can be staged in all worlds that it says it fits, and every cause that the twin makes
// is in both suites.
func TestEveryDrillFits(t *testing.T) {
	drills, err := All()
	if err != nil {
		t.Fatal(err)
	}
	worlds, err := Worlds()
	if err != nil {
		t.Fatal(err)
	}
	in := map[string][]string{} // the suites of each cause
	for _, d := range drills {
		if !d.runs("twin") {
			continue
		}
		for _, w := range worlds {
			if !d.Twin.fits(w) {
				continue
			}
			for _, id := range d.Expects {
				in[id] = append(in[id], w.Suite)
			}
			all := d.severities("twin")
			i := Instance{Drill: d, Engine: "twin", World: w, Severity: all[len(all)-1], Seed: 1}
			if _, err := i.stage(d.dial("twin").Start(i.Severity)); err != nil {
				t.Error(err)
			}
		}
	}
	for id, of := range in {
		for _, suite := range suites {
			if !slices.Contains(of, suite) {
				t.Errorf("no drill of %s fits a world of %s", id, suite)
			}
		}
	}
}
