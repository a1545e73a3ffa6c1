package probes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// Absence says why a reading is missing.
type Absence uint8

const (
	NotSeen      Absence = iota // nobody has read it yet
	NotExposed                  // the source does not have this reading
	Unsupported                 // the device or driver cannot measure it
	NoPermission                // measurable, not for this user
	Lost                        // the device is gone
	Stale                       // the last value is too old to stand for now
)

var absenceNames = [...]string{"not seen", "not exposed", "unsupported", "no permission", "lost", "stale"}

func (a Absence) String() string {
	if int(a) < len(absenceNames) {
		return absenceNames[a]
	}
	return fmt.Sprintf("absence %d", uint8(a))
}

// Opt is a reading that may be missing. The zero Opt is missing (NotSeen), so a
// forgotten field can never be taken for a measured 0.
type Opt[T any] struct {
	value T
	seen  bool
	why   Absence
}

// Some is a reading that was made. A float that is NaN or infinite is no reading.
func Some[T any](v T) Opt[T] {
	if f, ok := any(v).(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return Opt[T]{}
	}
	return Opt[T]{value: v, seen: true}
}

// None is a missing reading and the reason.
func None[T any](why Absence) Opt[T] { return Opt[T]{why: why} }

// Get returns the value and whether there is one.
func (o Opt[T]) Get() (T, bool) { return o.value, o.seen }

// Or returns the value, or fallback when it is missing.
func (o Opt[T]) Or(fallback T) T {
	if o.seen {
		return o.value
	}
	return fallback
}

// Seen reports whether there is a value.
func (o Opt[T]) Seen() bool { return o.seen }

// Why returns the reason of a missing value; it means nothing when Seen.
func (o Opt[T]) Why() Absence { return o.why }

// IsZero lets encoding/json leave out readings that nobody made (omitzero).
func (o Opt[T]) IsZero() bool { return !o.seen && o.why == NotSeen }

type absent struct {
	Absent string `json:"absent"`
}

// MarshalJSON writes the bare value, null when never seen, or {"absent": reason}.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	switch {
	case o.seen:
		return json.Marshal(o.value)
	case o.why == NotSeen:
		return []byte("null"), nil
	}
	return json.Marshal(absent{o.why.String()})
}

// UnmarshalJSON is the reverse of MarshalJSON; an unknown reason reads as NotSeen.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	*o = Opt[T]{}
	if string(b) == "null" {
		return nil
	}
	if bytes.HasPrefix(b, []byte("{")) && bytes.Contains(b, []byte(`"absent"`)) {
		var a absent
		if err := json.Unmarshal(b, &a); err != nil {
			return err
		}
		for i, name := range absenceNames {
			if name == a.Absent {
				o.why = Absence(i)
			}
		}
		return nil
	}
	if err := json.Unmarshal(b, &o.value); err != nil {
		return err
	}
	o.seen = true
	return nil
}
