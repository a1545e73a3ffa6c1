package drill

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Undrilled is a cause that no drill makes, with the reason.
type Undrilled struct{ ID, Why string }

var loadUndrilled = sync.OnceValues(func() ([]Undrilled, error) { return readList("undrilled.yaml", parseUndrilled) })

// AllUndrilled are the causes that no drill makes, in order of their ids.
func AllUndrilled() ([]Undrilled, error) { return loadUndrilled() }

// parseUndrilled reads "id: reason" lines.
func parseUndrilled(file string, text []byte) ([]Undrilled, error) {
	reasons := map[string]string{}
	s, err := read(file, text, &reasons)
	if err != nil {
		return nil, err
	}
	ids, err := known()
	if err != nil {
		return nil, err
	}
	var all []Undrilled
	var errs []error
	for id, why := range reasons {
		switch {
		case !slices.Contains(ids, id):
			errs = append(errs, s.bad([]string{id}, "%v", unknown("cause", id, ids)))
		case strings.TrimSpace(why) == "":
			errs = append(errs, s.bad([]string{id}, "%s: why is it not drilled?", id))
		}
		all = append(all, Undrilled{ID: id, Why: why})
	}
	slices.SortFunc(all, func(a, b Undrilled) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return all, errors.Join(errs...)
}
