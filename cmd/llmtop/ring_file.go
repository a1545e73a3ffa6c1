package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"llmtop/probes/record"
)

// leastFree is what must be free on the disk before an incident file is begun.
const leastFree = 256 << 20

// incidentPattern is what the names of incident files look like.
const incidentPattern = "llmtop-*.llmrec"

// incidentName is the name of a file about what happened at a moment: a cause, key, signal.
func incidentName(at time.Time, what string) string {
	what = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(what))
	return "llmtop-" + at.UTC().Format("20060102T150405Z") + "-" + what[:min(len(what), 60)] + ".llmrec"
}

// create makes an incident file if there is room for one. It may wait for the disk.
func (o *ringOptions) create(path string, m record.Manifest) (*record.Writer, error) {
	if err := o.room(); err != nil {
		return nil, err
	}
	return record.Create(path, m)
}

// room is why no incident file can be begun now; nil when one can. It may wait for the disk.
func (o *ringOptions) room() error {
	if err := unix.Faccessat(unix.AT_FDCWD, o.dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return fmt.Errorf("no file can be made in %s: %w", o.dir, err)
	}
	there, err := filepath.Glob(filepath.Join(escapeGlob(o.dir), incidentPattern))
	if err != nil {
		return err
	}
	if len(there) >= o.files {
		return fmt.Errorf("%s holds %d incident files (--ring-files): remove some", o.dir, len(there))
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(o.dir, &fs); err != nil {
		return fmt.Errorf("%s: %w", o.dir, err)
	}
	if free := int64(min(fs.Bavail, 1<<40)) * int64(fs.Bsize); free < leastFree {
		return fmt.Errorf("%s: %d MiB are free, %d are needed", o.dir, free>>20, leastFree>>20)
	}
	return nil
}

// escapeGlob makes a folder's name stand for itself in a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
