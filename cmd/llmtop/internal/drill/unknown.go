package drill

import (
	"fmt"
	"strings"

	"llmtop/engine/twin/knob"
)

// few is how many names an error lists.
const few = 12

// unknown says that there is nothing of that name, and what was meant; of what has few names
// it lists all.
func unknown(what, name string, names []string) error {
	err := knob.Unknown(what, name, names)
	if len(names) <= few || strings.Contains(err.Error(), "did you mean") {
		return err
	}
	return fmt.Errorf("there is no %s %.40q", what, name)
}
