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
	there, err := filepath.Glob(filepath.Join(escapeGlob(o.dir), incidentPattern))
	if err != nil {
		return nil, err
	}
	if len(there) >= o.files {
		return nil, fmt.Errorf("%s holds %d incident files (--ring-files): remove some", o.dir, len(there))
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(o.dir, &fs); err != nil {
		return nil, fmt.Errorf("%s: %w", o.dir, err)
	}
	if free := int64(min(fs.Bavail, 1<<40)) * int64(fs.Bsize); free < leastFree {
		return nil, fmt.Errorf("%s: %d MiB are free, %d are needed", o.dir, free>>20, leastFree>>20)
	}
	return record.Create(path, m)
}

// escapeGlob makes a folder's name stand for itself in a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
