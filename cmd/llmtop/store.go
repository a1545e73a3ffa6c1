package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes/record"
)

// storeOptions are the flags of `record --store`.
type storeOptions struct {
	dir            string
	retain, length time.Duration
	size           byteSize
}

// smallestStore is what --max-size must at least be: a few files with some minutes each.
const smallestStore = 1 << 20

func (o *storeOptions) flags(cmd *cobra.Command) {
	o.size = 500 << 20
	f := cmd.Flags()
	f.StringVar(&o.dir, "store", "", "keep the newest samples in a `directory` of files (made if it is not there)")
	f.DurationVar(&o.retain, "retain", 24*time.Hour, "how long a store keeps a file (0: as long as there is room)")
	f.Var(&o.size, "max-size", "most bytes a store takes on disk: 64k, 500M, 2G (0: any number)")
	f.DurationVar(&o.length, "file-length", time.Hour, "time in one file of a store")
}

// check refuses what cannot be meant, and makes files shorter when little is kept.
func (o *storeOptions) check(cmd *cobra.Command) error {
	set := cmd.Flags().Changed
	if o.dir == "" {
		for _, name := range []string{"retain", "max-size", "file-length"} {
			if set(name) {
				return usage(fmt.Errorf("--%s is about a store", name), "give --store DIR")
			}
		}
		return nil
	}
	if err := errors.Join(checkDuration("retain", o.retain), checkDuration("file-length", o.length)); err != nil {
		return err
	}
	if o.retain > 0 && !set("file-length") {
		o.length = min(o.length, max(o.retain/8, time.Second))
	}
	switch {
	case o.size != 0 && o.size < smallestStore:
		return usage(fmt.Errorf("--max-size %s: must be at least 1M", o.size.String()), "")
	case o.length < time.Second:
		return usage(fmt.Errorf("--file-length %s: must be at least 1s", o.length), "")
	case o.retain > 0 && o.retain < time.Second:
		return usage(fmt.Errorf("--retain %s: must be at least 1s", o.retain), "")
	case o.retain > 0 && o.length > o.retain:
		return usage(fmt.Errorf("--file-length %s is more than --retain %s keeps", o.length, o.retain), "")
	}
	return nil
}

func (o *storeOptions) open(out io.Writer, interval time.Duration) (*record.Writer, error) {
	w, err := record.OpenStore(o.dir, manifest(interval), record.StoreOptions{Retain: o.retain, MaxBytes: int64(o.size), FileLength: o.length})
	if err != nil {
		return nil, failed(err, "")
	}
	if n := w.Before(); n > 0 {
		fmt.Fprintf(out, "%s: going on with its newest file, after %d samples\n", oneLine(o.dir), n)
	}
	return w, nil
}
