package inject

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settings are what a drill gives its injector, text by name. Each is asked for by the
// injector's constructor; New refuses those that nobody asked for.
type Settings struct {
	values map[string]string
	read   map[string]bool
}

// Text is a setting, or otherwise where it is absent.
func (s Settings) Text(name, otherwise string) string {
	s.read[name] = true
	if v, ok := s.values[name]; ok {
		return v
	}
	return otherwise
}

// Number is a setting that is a number within bounds, both included.
func (s Settings) Number(name string, otherwise, least, most float64) (float64, error) {
	text := s.Text(name, "")
	if text == "" {
		return otherwise, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= least && v <= most) {
		return 0, fmt.Errorf("%s: %q is no number between %g and %g", name, text, least, most)
	}
	return v, nil
}

// Duration is a setting that is a length of time within bounds, both included.
func (s Settings) Duration(name string, otherwise, least, most time.Duration) (time.Duration, error) {
	text := s.Text(name, "")
	if text == "" {
		return otherwise, nil
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < least || v > most {
		return 0, fmt.Errorf("%s: %q is no length of time between %s and %s", name, text, least, most)
	}
	return v, nil
}

// Words are the flags in a setting, split at blanks.
func (s Settings) Words(name string) []string { return strings.Fields(s.Text(name, "")) }

// unread is an error when a setting was never asked for.
func (s Settings) unread() error {
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		if !s.read[name] {
			return fmt.Errorf("there is no setting %q", name)
		}
	}
	return nil
}
