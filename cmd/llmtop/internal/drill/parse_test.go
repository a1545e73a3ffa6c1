package drill

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// minimal is a drill that is right.
const minimal = `story: Somebody lowers the power limit
symptom: e2e.p50
twin:
  turns: ["power_cap {x}W"]
  dial: {from: 700, to: 100, mild: 400, medium: 300, severe: 200}
  confirm:
    - {signal: gpu.limit_ratio, falls: 0.9}
`

func TestParseDrill(t *testing.T) {
	d, err := ParseDrill("somewhere/power-cap_two.yaml", []byte(minimal+"  lasts: 90s\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d.ID != "power-cap_two" || d.Kind != Fault || !slices.Equal(d.Expects, []string{"power-cap"}) || d.lasts("twin") != 90*time.Second {
		t.Errorf("%+v", d)
	}
	if got := d.Twin.Dial.Severities(); !slices.Equal(got, Severities) {
		t.Errorf("severities %v", got)
	}
}

func TestParseDrillErrors(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(minimal, old) {
			t.Fatalf("%q is not there to be changed", old)
		}
		return strings.Replace(minimal, old, new, 1)
	}
	for _, c := range []struct{ name, file, text, want string }{
		{"no yaml", "power-cap.yaml", "story: [", "power-cap.yaml:1: "},
		{"unknown field", "power-cap.yaml", change("symptom:", "symptoms:"), "power-cap.yaml:2: unknown field"},
		{"file name", "Power.yaml", minimal, "Power.yaml:1: a drill's file is called"},
		{"unknown id", "power-kap.yaml", minimal, `did you mean power-cap?`},
		{"no story", "power-cap.yaml", change("Somebody lowers the power limit", `""`), "power-cap.yaml:1: story"},
		{"kind", "power-cap.yaml", "kind: fautl\n" + minimal, `power-cap.yaml:1: there is no kind "fautl": did you mean fault?`},
		{"symptom", "power-cap.yaml", change("e2e.p50", "e2e.p5"), "power-cap.yaml:2: there is no symptom"},
		{"no symptom", "power-cap.yaml", change("symptom: e2e.p50\n", ""), "there is no symptom"},
		{"source", "power-cap.yaml", "seen_by: [host, gpus]\n" + minimal, "power-cap.yaml:1: there is no source"},
		{"stage", "power-cap.yaml", "stage: decoding\n" + minimal, "power-cap.yaml:1: there is no stage"},
		{"effect", "power-cap.yaml", "effects:\n- gpu-shared\n- queue-backlogs\n" + minimal, "power-cap.yaml:3: there is no cause"},
		{"allows", "power-cap.yaml", "allows: [cold-start]\n" + minimal, "power-cap.yaml:1: only a control"},
		{"compound", "compound_a_b.yaml", "kind: compound\n" + minimal, "compound_a_b.yaml:1: expects"},
		{"outside", "outside_x.yaml", "kind: outside\nexpects: [power-cap]\n" + minimal, "outside_x.yaml:2: a drill of kind outside expects no cause"},
		{"nothing", "power-cap.yaml", "story: x\nsymptom: e2e.p50\n", "power-cap.yaml:1: neither twin nor cpu"},
		{"turn", "power-cap.yaml", change("power_cap {x}W", "power_kap {x}W"), `power-cap.yaml:4: "power_kap {x}W"`},
		{"turn out of range", "power-cap.yaml", change("700", "70000"), ""},
		{"turn time", "power-cap.yaml", change("power_cap {x}W", "+2 power_cap {x}W"), "a time after the onset"},
		{"no turns", "power-cap.yaml", change(`turns: ["power_cap {x}W"]`, `lines: ["cpus {x}"]`), "no turns"},
		{"order", "power-cap.yaml", change("medium: 300", "medium: 450"), "power-cap.yaml:5: medium is not stronger"},
		{"beyond", "power-cap.yaml", change("severe: 200", "severe: 20"), "power-cap.yaml:5: severe: 20 does not lie between"},
		{"no place", "power-cap.yaml", change("{x}W", "300W"), "power-cap.yaml:5: no {x}"},
		{"no dial", "power-cap.yaml", change("  dial: {from: 700, to: 100, mild: 400, medium: 300, severe: 200}\n", ""), "{x} without a dial"},
		{"flat dial", "power-cap.yaml", change("to: 100", "to: 700"), "from and to are the same"},
		{"empty dial", "power-cap.yaml", change(", mild: 400, medium: 300, severe: 200", ""), "a dial names"},
		{"signal", "power-cap.yaml", change("gpu.limit_ratio", "gpu.limit_ration"), "power-cap.yaml:7: there is no signal"},
		{"no movement", "power-cap.yaml", change(", falls: 0.9", ""), "power-cap.yaml:7: gpu.limit_ratio: rises, falls"},
		{"lasts", "power-cap.yaml", minimal + "  lasts: 3h\n", "power-cap.yaml:8: lasts is"},
		{"no time", "power-cap.yaml", minimal + "  lasts: 90\n", "power-cap.yaml:8: "},
		{"load", "power-cap.yaml", minimal + "  load: 7\n", "power-cap.yaml:8: load is"},
		{"world", "power-cap.yaml", minimal + "  worlds: [nowhere]\n", "power-cap.yaml:8: there is no world"},
		{"tag", "power-cap.yaml", minimal + "  needs: [quantum]\n", "power-cap.yaml:8: there is no tag"},
		{"control", "control_x.yaml", "kind: healthy\n" + minimal, "a control has no dial"},
		{"injector", "power-cap.yaml", minimal + "cpu:\n  serve: [--x]\n", "power-cap.yaml:8: inject"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseDrill(c.file, []byte(c.text))
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// All that is wrong is said at once, a line each.
func TestParseDrillsErrors(t *testing.T) {
	files := fstest.MapFS{
		"d/power-cap.yaml":  {Data: []byte(strings.Replace(minimal, "e2e.p50", "e2e", 1) + "  load: 7\n")},
		"d/gpu-shared.yaml": {Data: []byte(minimal)},
		"d/readme.txt":      {Data: []byte("no drill")},
	}
	_, err := parseDrills(files, "d")
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v, want two lines", err)
	}
	delete(files, "d/power-cap.yaml")
	if all, err := parseDrills(files, "d"); err != nil || len(all) != 1 || all[0].ID != "gpu-shared" {
		t.Errorf("got %v, %v", all, err)
	}
}

func TestLookup(t *testing.T) {
	if d, err := Lookup("power-cap"); err != nil || d.ID != "power-cap" {
		t.Errorf("got %v, %v", d, err)
	}
	if _, err := Lookup("power-cup"); err == nil || !strings.Contains(err.Error(), "power-cap") {
		t.Errorf("got %v, want what is meant", err)
	}
}

func TestParseWorldsErrors(t *testing.T) {
	world := "- name: one\n  suite: train\n  tags: [plain]\n  lines: [\"gpu l4\", \"model llama-3-8b fp8\", \"engine vllm\"]\n  workload: chat\n  load: 0.3\n"
	if all, err := parseWorlds("w.yaml", []byte(world)); err != nil || !all[0].Has("vllm") || !all[0].Has("plain") || all[0].Has("tgi") {
		t.Fatalf("got %v, %v", all, err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"suite", strings.Replace(world, "train", "trial", 1), "w.yaml:2: world one: suite"},
		{"name", strings.Replace(world, "one", "One", 1), "w.yaml:1: a world's name"},
		{"twice", world + world, "w.yaml:7: there are two worlds"},
		{"load", strings.Replace(world, "0.3", "3", 1), "w.yaml:6: world one: load"},
		{"workload", strings.Replace(world, "chat", `""`, 1), "no workload"},
		{"tag", strings.Replace(world, "[plain]", "[Plain]", 1), "w.yaml:3: world one: a tag"},
		{"line", strings.Replace(world, "gpu l4", "gpu l44", 1), `w.yaml:1: world one: "gpu l44": gpu: there is no GPU "l44"`},
		{"field", world + "  region: west\n", "w.yaml:7: unknown field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parseWorlds("w.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestParseUndrilledErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"power-kap: no reason\n", "u.yaml:1: there is no cause"},
		{"gpu-shared: nobody else\npower-cap: \"\"\n", "u.yaml:2: power-cap: why"},
		{"- power-cap\n", "u.yaml:1: "},
	} {
		if _, err := parseUndrilled("u.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
	all, err := parseUndrilled("u.yaml", []byte("power-cap: one\ngpu-shared: two\n"))
	if err != nil || len(all) != 2 || all[0] != (Undrilled{"gpu-shared", "two"}) {
		t.Errorf("got %v, %v", all, err)
	}
}
