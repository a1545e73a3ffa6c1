package engineconfig

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a command line that is looked at.
const (
	maxArgs = 1024
	maxArg  = 16 << 10 // bytes
)

// flag is a setting on the command line.
type flag struct {
	names []string // as they are typed; "--a-b" stands for "--a_b" too
	name  string   // one of probes.FactNames
	kind  kind
}

// takesValue reports whether a value belongs to the flag; a switch may have one.
func (f *flag) takesValue() bool { return f.kind != on && f.kind != off && f.kind != switched }

// engine is what is known of one engine.
type engine struct {
	dialect  string     // one of probes.Dialects
	commands [][]string // words that stand in its command line: a program's or module's name, then others
	model    []string   // words that the model may follow
	config   string     // the flag of a file with further settings
	pages    []page
	flags    []flag
	usual    []flagless
}

// flagless is what the absence of a flag means, with no file of settings beside it.
type flagless struct{ name, value string }

// engines in the order in which a command line or a page is held against them.
var engines = []*engine{&dynamo, &llamacpp, &sglang, &tgi, &trtllm, &lmdeploy, &llmtop, &vllm}

// engineNamed is the engine of a dialect, nil for none.
func engineNamed(dialect string) *engine {
	for i := len(engines) - 1; i >= 0; i-- { // our own engine speaks vLLM's dialect
		if engines[i].dialect == dialect && dialect != "" {
			return engines[i]
		}
	}
	return nil
}

// engineOf recognises a command line, nil when it cannot.
func engineOf(argv []string) *engine {
	for _, e := range engines {
		for _, words := range e.commands {
			if startsWith(argv, words) {
				return e
			}
		}
	}
	return nil
}

// launch is how many arguments may hold the program: an interpreter, its options, the
// program or module, a subcommand.
const launch = 8

// startsWith finds the words in order among the first arguments: the first one as the
// name of a program or of a module.
func startsWith(argv, words []string) bool {
	for _, arg := range argv[:min(len(argv), launch)] {
		if len(words) == 0 {
			break
		}
		if len(arg) <= maxArg && (arg == words[0] || strings.TrimSuffix(path.Base(arg), ".py") == words[0]) {
			words = words[1:]
		}
	}
	return len(words) == 0
}

// flags takes the settings of a command line. Of a flag that comes twice the last one
// counts, as engines have it.
func (r *reading) flags(argv []string) {
	found := map[string]setting{}
	file := false // there are settings in a file that is not read
	for i := 0; i < len(argv); i++ {
		arg := argv[i]
		if i > 0 && r.engine.namesModel(argv, i) {
			if name, ok := normal(modelName, arg); ok {
				found["model"] = setting{name, "command line"}
			}
			continue
		}
		if len(arg) > maxArg || !strings.HasPrefix(arg, "-") {
			continue
		}
		typed, value, valued := strings.Cut(arg, "=")
		file = file || r.engine.config != "" && typed == r.engine.config
		f := r.engine.flag(typed)
		if f == nil {
			continue
		}
		if !valued && i+1 < len(argv) && f.wants(argv[i+1]) {
			i++
			value, valued = argv[i], true
		}
		if !valued && !f.takesValue() {
			value = "true"
		}
		if value, ok := normal(f.kind, value); ok {
			found[f.name] = setting{value, f.names[0]}
		} else {
			delete(found, f.name) // the last one counts, and says nothing that is known
		}
	}
	for name, s := range found {
		r.add(name, s.value, s.source)
	}
	if file {
		return
	}
	for _, u := range r.engine.usual {
		r.add(u.name, u.value, "default")
	}
}

// setting is a value and the flag that it comes from.
type setting struct{ value, source string }

// namesModel reports whether argument i is the model: it follows the program or its
// subcommand, and is no subcommand itself.
func (e *engine) namesModel(argv []string, i int) bool {
	arg := argv[i]
	return i <= launch && len(arg) <= maxArg && !strings.HasPrefix(arg, "-") && !slices.Contains(e.model, arg) &&
		slices.Contains(e.model, path.Base(argv[i-1]))
}

// wants reports whether the next argument is the flag's value.
func (f *flag) wants(next string) bool {
	if len(next) > maxArg {
		return false
	}
	if !f.takesValue() {
		_, ok := truth(next)
		return ok && next != "1" && next != "0" || f.kind == switched && next == "auto" // a bare number is an argument of its own
	}
	if !strings.HasPrefix(next, "-") {
		return true
	}
	_, err := strconv.ParseFloat(next, 64)
	return err == nil
}

// flag finds a flag by the name that was typed.
func (e *engine) flag(typed string) *flag {
	typed = dashed(typed)
	for i := range e.flags {
		for _, name := range e.flags[i].names {
			if dashed(name) == typed {
				return &e.flags[i]
			}
		}
	}
	return nil
}

// dashed writes a long flag with dashes: engines take --a_b for --a-b.
func dashed(name string) string {
	if strings.HasPrefix(name, "--") {
		return strings.ReplaceAll(name, "_", "-")
	}
	return name
}
