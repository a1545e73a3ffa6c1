package twin

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"llmtop/engine/twin/knob"
	"llmtop/engine/twin/workload"
)

// TestDocs holds the tables of docs/twin.md against those of the code; -update writes them.
func TestDocs(t *testing.T) {
	const path = "../../docs/twin.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for name, table := range map[string]string{"statements": statementTable(), "settings": settingTable(), "kinds": kindTable(), "options": optionTable(), "knobs": knobTable()} {
		section := regexp.MustCompile(`(?s)<!-- ` + name + ` -->\n.*?<!-- end -->`)
		if !section.MatchString(got) {
			t.Fatalf("%s has no table %s", path, name)
		}
		got = section.ReplaceAllLiteralString(got, "<!-- "+name+" -->\n"+table+"<!-- end -->")
	}
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != string(text) {
		t.Errorf("the tables of %s are not those of the code: run with -update", path)
	}
	examples := regexp.MustCompile("(?s)```\n(gpu .*?)```").FindAllStringSubmatch(got, -1)
	if len(examples) < 2 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		if _, err := parseText(e[1]); err != nil {
			t.Errorf("an example: %v", err)
		}
	}
	for _, name := range Personalities {
		if !strings.Contains(got, "\n| `"+name+"` | ") {
			t.Errorf("%s does not say what %s shows", path, name)
		}
	}
	trace := regexp.MustCompile("(?s)```\n(arrival_.*?)```").FindStringSubmatch(got)
	if trace == nil {
		t.Fatal("no trace")
	}
	if _, err := workload.ReadTrace(strings.NewReader(trace[1]), "trace"); err != nil {
		t.Errorf("the trace: %v", err)
	}
}

func table(head string, columns int, row func(line func(cells ...string))) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", head, strings.Repeat("---|", columns))
	row(func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) })
	return b.String()
}

func statementTable() string {
	return table("statement | what it says (what is so without it)", 2, func(line func(...string)) {
		for _, s := range Statements() {
			line("`"+s.Example+"`", s.Doc)
		}
	})
}

func settingTable() string {
	return table("option | takes | what it is (otherwise)", 3, func(line func(...string)) {
		for _, s := range Settings() {
			line("`"+s.Name+"`", s.Takes, s.Doc)
		}
	})
}

func kindTable() string {
	return table("kind | what it is | prompt's own part | answer", 4, func(line func(...string)) {
		for _, k := range workload.Kinds {
			line("`"+k.Stream.Kind+"`", k.Doc, k.Stream.Prompt.String(), k.Stream.Output.String())
		}
	})
}

func optionTable() string {
	return table("option | takes | what it is", 3, func(line func(...string)) {
		for _, o := range workload.Options() {
			line("`"+o.Name+"`", o.Takes, o.Doc)
		}
	})
}

func knobTable() string {
	return table("knob | of | takes | at the start | what it changes", 5, func(line func(...string)) {
		for id := range knob.Table {
			k := &knob.Table[id]
			line("`"+k.Name+"`", k.Of(), k.Takes(), k.Starts(), k.Doc)
		}
	})
}
