package drill

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed drills/*.yaml
var drillFiles embed.FS

// suffix is how drill files are called.
const suffix = ".yaml"

var loadDrills = sync.OnceValues(func() ([]*Drill, error) { return parseDrills(drillFiles, "drills") })

// All are the drills that come along, in order of their ids.
func All() ([]*Drill, error) { return loadDrills() }

// parseDrills reads all files of a folder. All errors are reported, each with file and line.
func parseDrills(files fs.FS, dir string) ([]*Drill, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("listing drills: %w", err)
	}
	var all []*Drill
	var errs []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		text, err := fs.ReadFile(files, path.Join(dir, e.Name()))
		if err != nil {
			errs = append(errs, fmt.Errorf("reading %s: %w", e.Name(), err))
			continue
		}
		d, err := ParseDrill(path.Join(dir, e.Name()), text)
		errs = append(errs, err)
		all = append(all, d)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *Drill) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// ParseDrill reads a drill; the base name of the file is its id. All that is wrong is
// reported, a line each: "mine.yaml:3: what, what would be right".
func ParseDrill(file string, text []byte) (*Drill, error) {
	d := &Drill{}
	s, err := read(file, text, d)
	if err != nil {
		return nil, err
	}
	d.ID = strings.TrimSuffix(path.Base(file), suffix)
	if d.Kind == "" {
		d.Kind = Fault
	}
	base, _, _ := strings.Cut(d.ID, "_")
	if len(d.Expects) == 0 && (d.Kind == Fault || d.Kind == Limit || d.Kind == Note) {
		d.Expects = []string{base}
	}
	if err := d.check(s); err != nil {
		return nil, err
	}
	return d, nil
}

// Lookup is the drill of that id; an error says which is meant.
func Lookup(id string) (*Drill, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(all))
	for i, d := range all {
		if ids[i] = d.ID; d.ID == id {
			return d, nil
		}
	}
	return nil, unknown("drill", id, ids)
}
