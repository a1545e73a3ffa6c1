package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os/exec"
	"path/filepath"
	"time"
)

// interval is the time between samples of the recorder that is killed.
const interval = 100 * time.Millisecond

// latest is how long before the kill the last sample may have been taken: the next one
// was under way, and a busy host may have kept it waiting.
const latest = 5 * interval

// info is what is needed of `llmtop info --json`.
type info struct {
	Samples int       `json:"samples"`
	End     time.Time `json:"end"`
	Damaged int       `json:"damaged"`
	Gaps    []struct {
		Dropped int    `json:"dropped"`
		Reason  string `json:"reason"`
	} `json:"gaps"`
}

func read(exe, path string) (info, error) {
	var i info
	out, err := exec.Command(exe, "info", "--json", path).Output()
	if err != nil {
		return i, fmt.Errorf("llmtop info %s: %w", path, err)
	}
	return i, json.Unmarshal(out, &i)
}

func killFile(kills int, seed int64) func(exe, dir, url string) (int, error) {
	return func(exe, dir, url string) (int, error) {
		path := filepath.Join(dir, "night.llmrec")
		return killed("one file", exe, path, kills, seed, "record", "-o", path, "--interval", interval.String(), url)
	}
}

// killStore has files of a second, so that many kills fall into the change of files.
func killStore(kills int, seed int64) func(exe, dir, url string) (int, error) {
	return func(exe, dir, url string) (int, error) {
		path := filepath.Join(dir, "store")
		return killed("a store", exe, path, kills, seed, "record", "--store", path, "--file-length", "1s", "--interval", interval.String(), url)
	}
}

// killed starts the recorder, kills it at a random moment and looks at what is there:
// it opens, nothing is damaged, everything from before is there, and the last sample is
// not older than the one that was being written.
func killed(name, exe, path string, kills int, seed int64, args ...string) (missed int, err error) {
	rng := rand.New(rand.NewSource(seed))
	var before, grew int
	var oldest time.Duration
	for n := range kills {
		at, err := killAfter(exe, time.Duration(50+rng.Intn(1200))*time.Millisecond, args)
		if err != nil {
			return missed, err
		}
		i, err := read(exe, path)
		switch {
		case err != nil && before == 0:
			continue // killed before there was anything
		case err != nil:
			fmt.Printf("MISS %s, kill %d: %v\n", name, n+1, err)
			missed++
			continue
		case i.Damaged > 0 || i.Samples < before:
			fmt.Printf("MISS %s, kill %d: %d samples after %d, %d damaged\n", name, n+1, i.Samples, before, i.Damaged)
			missed++
		}
		if age := at.Sub(i.End); i.Samples > before {
			grew++
			if oldest = max(oldest, age); age > latest {
				fmt.Printf("MISS %s, kill %d: the last sample is from %s before\n", name, n+1, age)
				missed++
			}
		}
		before = i.Samples
	}
	fmt.Printf("%-8s killed %d times: %d samples, the file grew %d times, last sample at most %d ms before the kill (one every %s), %d missed\n",
		name, kills, before, grew, oldest.Milliseconds(), interval, missed)
	if grew < kills/2 {
		return missed + 1, nil // the next writer did not go on
	}
	return missed, nil
}

// killAfter starts the recorder and kills it, and says when.
func killAfter(exe string, after time.Duration, args []string) (time.Time, error) {
	c := exec.Command(exe, args...)
	if err := c.Start(); err != nil {
		return time.Time{}, err
	}
	time.Sleep(after)
	at := time.Now()
	err := c.Process.Kill()
	c.Wait() // it was killed
	return at, err
}
