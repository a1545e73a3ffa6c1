package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// fullDisk lets the recorder run onto a full disk and frees it again: what was there
// before stays, the gap is told, and recording resumes.
func fullDisk(exe, dir, url string) (missed int, err error) {
	if err := unix.Mount("llmtop", dir, "tmpfs", 0, "size=4m"); err != nil {
		fmt.Printf("full disk: left out, a tmpfs cannot be mounted: %v\n", err)
		return 0, nil
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	path, filler := filepath.Join(dir, "night.llmrec"), filepath.Join(dir, "filler")
	c := exec.Command(exe, "record", "-o", path, "--interval", interval.String(), url)
	if err := c.Start(); err != nil {
		return 0, err
	}
	defer c.Process.Kill()
	time.Sleep(5 * time.Second)
	if err := fill(filler); err != nil {
		return 0, err
	}
	time.Sleep(10 * time.Second)
	full, err := read(exe, path)
	if err != nil {
		return 0, err
	}
	if err := os.Remove(filler); err != nil {
		return 0, err
	}
	time.Sleep(5 * time.Second)
	c.Process.Signal(os.Interrupt)
	c.Wait() // what it wrote is looked at
	after, err := read(exe, path)
	if err != nil {
		return 0, err
	}
	if full.Damaged+after.Damaged > 0 || full.Samples == 0 || after.Samples < full.Samples+20 || len(after.Gaps) == 0 {
		missed++
	}
	fmt.Printf("full disk: %d samples while full, %d after it was freed, gaps %+v, damaged %d, %d missed\n",
		full.Samples, after.Samples, after.Gaps, after.Damaged, missed)
	return missed, nil
}

// fill writes until the disk is full.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return nil
}
