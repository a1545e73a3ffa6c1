package record

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// examineStore examines the files of a store one after the other. One that cannot be read
// at all is damage as a whole; one that is dropped meanwhile, or was only just begun, is
// passed over.
func examineStore(ctx context.Context, dir string, use func(Entry) error) (Check, error) {
	r, err := Open(dir) // says what is wrong with a path
	if err != nil {
		return Check{}, err
	}
	defer r.Close()
	names, err := storeNames(dir)
	if err != nil {
		return Check{}, err
	}
	var sum Check
	for _, name := range names {
		c, err := examineFile(ctx, filepath.Join(dir, name), use)
		switch {
		case ctx.Err() != nil:
			return Check{}, ctx.Err()
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrEmpty):
			continue
		case errors.Is(err, ErrNotRecording):
			c = unreadable(filepath.Join(dir, name))
		case err != nil:
			return Check{}, err
		}
		sum.add(c, name)
	}
	sum.Info = r.whole(sum.Info)
	return sum, nil
}

// unreadable is the check of a file of which nothing can be read.
func unreadable(path string) Check {
	c := Check{Info: Info{Files: 1, Damaged: 1}}
	if info, err := os.Lstat(path); err == nil {
		c.Bytes = info.Size()
	}
	c.Places = []Damage{{Bytes: c.Bytes}}
	return c
}

// add takes in the check of the store's next file.
func (c *Check) add(o Check, name string) {
	c.Info.add(o.Info)
	c.Lost += o.Lost
	for _, d := range o.Places {
		if d.File = name; len(c.Places) < maxListed {
			c.Places = append(c.Places, d)
		}
	}
}
