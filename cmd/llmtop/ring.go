package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"llmtop/probes/record"
)

// ringOptions are the flags about keeping the past in memory until something happens.
type ringOptions struct {
	span   time.Duration // 0: no ring
	post   time.Duration
	dir    string
	memory byteSize
	files  int
}

func (o *ringOptions) on() bool { return o.span > 0 }

// flags adds the flags to a command. dir is where files go when --ring-dir is not given.
func (o *ringOptions) flags(cmd *cobra.Command, dir string) {
	f := cmd.Flags()
	f.DurationVar(&o.span, "ring", 0, "keep this much of the past in memory; a cause that is named, the key w or SIGUSR1 writes it to a file")
	f.DurationVar(&o.post, "post", 5*time.Minute, "with --ring: how long a file goes on after what it was written for")
	f.StringVar(&o.dir, "ring-dir", dir, "with --ring: the `folder` of the files")
	o.memory = 64 << 20
	f.Var(&o.memory, "ring-memory", "with --ring: at most this much of the past, however long it is")
	f.IntVar(&o.files, "ring-files", 100, "with --ring: no more files when the folder has this many; none is ever deleted")
}

// The bounds of --ring and --post.
const (
	shortestRing = 10 * time.Second
	longestRing  = 24 * time.Hour
	longestPost  = 24 * time.Hour
	leastMemory  = 1 << 20
)

// check refuses what cannot be meant. record is the file of --record or -o, "" for none.
func (o *ringOptions) check(cmd *cobra.Command, record string) error {
	if !o.on() {
		return o.checkWithout(cmd)
	}
	switch {
	case o.memory < leastMemory:
		return usage(fmt.Errorf("--ring-memory %s: must be at least 1M", o.memory.String()), "")
	case record != "":
		return usage(fmt.Errorf("--ring and the recording %s exclude each other", oneLine(record)),
			"the recording keeps all there is already; mark moments in it with the key m")
	case o.span < shortestRing || o.span > longestRing:
		return usage(fmt.Errorf("--ring %s: must be between %s and %s", o.span, shortestRing, longestRing), "")
	case o.post < 0 || o.post > longestPost:
		return usage(fmt.Errorf("--post %s: must be between 0s and %s", o.post, longestPost), "")
	case o.files < 1:
		return usage(fmt.Errorf("--ring-files %d: must be 1 or more", o.files), "")
	case o.dir == "":
		return usage(errors.New("where to? give a folder with --ring-dir"), "")
	}
	return checkFolder(o.dir)
}

// checkWithout refuses flags that mean nothing without --ring.
func (o *ringOptions) checkWithout(cmd *cobra.Command) error {
	if o.span < 0 {
		return usage(fmt.Errorf("--ring %s: must be between %s and %s", o.span, shortestRing, longestRing), "")
	}
	for _, name := range []string{"post", "ring-dir", "ring-memory", "ring-files"} {
		if cmd.Flags().Changed(name) {
			return usage(fmt.Errorf("--%s means nothing without --ring", name), "for example --ring 15m")
		}
	}
	return nil
}

func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", dir)
	}
	if err != nil {
		return usage(fmt.Errorf("--ring-dir: %s", oneLine(err.Error())), "it must be there already")
	}
	if err := unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return usage(fmt.Errorf("--ring-dir: no file can be made in %s: %w", oneLine(dir), err), "name a folder that is yours")
	}
	return nil
}

// newRing is the ring of these options.
func (o *ringOptions) newRing(interval time.Duration) *record.Ring {
	return record.NewRing(o.span, int64(o.memory), manifest(interval))
}
