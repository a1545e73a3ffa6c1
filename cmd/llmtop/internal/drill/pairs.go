package drill

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
)

//go:embed pairs.yaml
var pairsText []byte

// Pair are two drills that look alike, and the one measurement that tells them apart.
type Pair struct {
	A       string `yaml:"a"`
	B       string `yaml:"b"`
	Tells   string `yaml:"tells"`
	Without string `yaml:"without"` // why it cannot be drilled
}

var loadPairs = sync.OnceValues(func() ([]Pair, error) { return parsePairs("pairs.yaml", pairsText) })

// Pairs are all look-alikes, in the order of their file.
func Pairs() ([]Pair, error) { return loadPairs() }

// parsePairs reads a list of pairs. Drills are held against those that come along, unless
// the pair says why it cannot be drilled.
func parsePairs(file string, text []byte) ([]Pair, error) {
	var all []Pair
	s, err := read(file, text, &all)
	if err != nil {
		return nil, err
	}
	var errs []error
	for i, p := range all {
		at := []string{fmt.Sprint(i)}
		if strings.TrimSpace(p.Tells) == "" {
			errs = append(errs, s.bad(at, "pair %.40s and %.40s: tells: what separates them", p.A, p.B))
		}
		if p.Without != "" {
			continue
		}
		for _, id := range []string{p.A, p.B} {
			if _, err := Lookup(id); err != nil {
				errs = append(errs, s.bad(at, "%v", err))
			}
		}
	}
	return all, errors.Join(errs...)
}
