package record

import (
	"context"
	"fmt"
)

// Repair writes all that can be read of the recording at path to a new one, with a gap
// where samples are lost; of a store one file. The original is only read. After an error there
// is no new file.
func Repair(ctx context.Context, path, output string) (Check, Copied, error) {
	r, err := Open(path)
	if err != nil {
		return Check{}, Copied{}, err
	}
	info := r.Info()
	waiting := spooled(spoolOf(path, r.store))
	r.Close()
	c, err := NewCopy(output, info.Manifest.with("repaired", "what could be read of a damaged recording"))
	if err != nil {
		return Check{}, Copied{}, err
	}
	check, err := examine(ctx, path, func(e Entry) error { return c.Add(ctx, e) })
	for i := 0; i < len(waiting) && err == nil; i++ {
		err = c.Add(ctx, Entry{Mark: &waiting[i]})
	}
	if err != nil {
		c.Discard()
		return check, Copied{}, err
	}
	copied, err := c.Close(ctx)
	if err != nil {
		c.Discard()
	}
	return check, copied, err
}

// with is the manifest with one more fact.
func (m Manifest) with(name, format string, args ...any) Manifest {
	facts := make(map[string]string, len(m.Facts)+1)
	for k, v := range m.Facts {
		facts[k] = v
	}
	facts[name] = fmt.Sprintf(format, args...)
	m.Facts = facts
	return m
}
