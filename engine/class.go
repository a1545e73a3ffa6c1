package engine

import "fmt"

// Class is how urgent a sequence is. A class goes before those below it and may
// take their places and blocks, down to the share that each is guaranteed.
type Class int8

// The classes, the most urgent first. The zero value is Normal.
const (
	Realtime   Class = iota - 1 // somebody waits for each word
	Normal                      // the usual
	Background                  // nobody waits
)

// NumClasses is the number of classes; Class.index is from 0 to NumClasses-1.
const NumClasses = 3

var classNames = [NumClasses]string{"realtime", "normal", "background"}

func (c Class) String() string { return classNames[c.index()] }

func (c Class) index() int { return int(c - Realtime) }

// ParseClass is the class of that name.
func ParseClass(name string) (Class, error) {
	for i, n := range classNames {
		if n == name {
			return Realtime + Class(i), nil
		}
	}
	return Normal, fmt.Errorf("there is no class %q; there are %s, %s and %s", name, classNames[0], classNames[1], classNames[2])
}
