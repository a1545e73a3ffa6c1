package engineconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// page is a page of an engine and what is taken from it.
type page struct {
	path    string
	instead string   // not asked for when this one answered
	proof   []string // a member, or member=value: one that is there proves the engine
	fields  []field
}

// field is a setting in a page. member is a path of names and indices, "a.0.b".
type field struct {
	member string
	name   string // one of probes.FactNames, or versionField
	kind   kind
}

// versionField is the name of the field that holds the engine's version.
const versionField = "version"

// Pages that several engines have, with the same meaning.
var (
	modelsFields = []field{
		{"data.0.id", "model", modelName},
		{"data.0.max_model_len", "max_model_len", number},
	}
	versionFields = []field{{"version", versionField, version}}
)

// unknown are the pages that are asked for while the engine is not known, those that
// prove it first. /props comes before all: it tells whether llama.cpp sleeps.
var unknown = []page{{path: "/props"}, {path: "/v1/models"}, {path: "/version"}, {path: "/server_info"}, {path: "/get_server_info"}, {path: "/info"}}

// page takes what is known of a page, and the engine if the page proves it.
func (r *reading) page(path string, body any) {
	for _, e := range engines {
		for i := range e.pages {
			if g := &e.pages[i]; r.engine == nil && g.path == path && g.proves(body) {
				r.engine = e
			}
		}
	}
	fields := map[string][]field{"/v1/models": modelsFields, "/version": versionFields}[path]
	if r.engine != nil {
		for i := range r.engine.pages {
			if r.engine.pages[i].path == path {
				fields = append(r.engine.pages[i].fields[:len(r.engine.pages[i].fields):len(r.engine.pages[i].fields)], fields...)
			}
		}
	}
	for _, f := range fields {
		value, ok := normal(f.kind, text(dig(body, f.member)))
		switch {
		case !ok:
		case f.name == versionField:
			if r.version == "" {
				r.version = value
			}
		default:
			r.add(f.name, value, path)
		}
	}
	if asleep, ok := dig(body, "is_sleeping").(bool); ok && asleep {
		r.asleep = true
	}
}

func (g *page) proves(body any) bool {
	for _, p := range g.proof {
		member, want, valued := strings.Cut(p, "=")
		found := dig(body, member)
		if found != nil && (!valued || text(found) == want) {
			return true
		}
	}
	return false
}

// dig follows a path of names and indices; nil where it leads nowhere.
func dig(v any, member string) any {
	for part := range strings.SplitSeq(member, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// text is a number, a truth or a text as text; "" of anything else.
func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		return strconv.FormatBool(x)
	}
	return ""
}

// maxDepth of a page: SGLang's has 5.
const maxDepth = 32

var (
	errDepth = errors.New("JSON nested more than 32 deep")
	errJSON  = errors.New("something that is no JSON object")
)

// decode reads an object. Its errors repeat nothing of it.
func decode(body []byte) (any, error) {
	if depth(body) > maxDepth {
		return nil, errDepth
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil || v == nil {
		return nil, errJSON
	}
	return v, nil
}

// depth is how deep brackets nest, those in strings left out.
func depth(body []byte) (deepest int) {
	now, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}
