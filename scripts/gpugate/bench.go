package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"llmtop/probes"
	"llmtop/probes/record"
)

// bench is what all faults are tried with.
type bench struct {
	exe, url, dir string
	libraries     map[string]string // folders of the fake library, by kind
}

// A recording lasts long enough for what is read every ten seconds.
const (
	recordFor = 15 * time.Second
	limit     = 30 * time.Second // for one that ends by itself
)

// ran is what a program printed, and how it ended.
type ran struct {
	out, err string
	code     int
}

// run starts llmtop before the fake library with a script, and waits for its end.
func (b *bench) run(library, script, columns string, limit time.Duration, args ...string) (ran, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.exe, args...)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+b.libraries[library], "FAKE_NVML_SCRIPT="+script, "COLUMNS="+columns, "LINES=40", "LANG=C.UTF-8")
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return ran{}, err
	}
	r := ran{out.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	switch {
	case ctx.Err() != nil:
		return r, fmt.Errorf("llmtop %s did not end within %s", args[0], limit)
	case r.code < 0 || r.code > 4:
		return r, fmt.Errorf("llmtop %s ended with status %d: %s", args[0], r.code, strings.TrimSpace(r.err))
	}
	return r, nil
}

// doctorSays is what of a doctor's report is looked at.
type doctorSays struct {
	Sections struct {
		GPU *probes.GPU `json:"gpu"`
	} `json:"sections"`
	Broken []string `json:"broken"`
}

// look is everything that llmtop tells of a fault.
type look struct {
	samples      []*probes.Sample
	narrow, wide string // frames
	text         string // of the doctor
	says         doctorSays
	code         int // of the doctor
}

// look has llmtop record, print frames and examine, all at once.
func (b *bench) look(f fault) (look, error) {
	var l look
	later, sooner, err := f.scripts(filepath.Join(b.dir, f.name))
	if err != nil {
		return l, err
	}
	var all sync.WaitGroup
	errs := make([]error, 5)
	frame := func(i int, to *string, columns string) {
		r, err := b.run(f.library, sooner, columns, limit, "--once", b.url)
		*to, errs[i] = r.out, err
	}
	all.Go(func() { l.samples, errs[0] = b.record(f, later, recordFor) })
	all.Go(func() { frame(1, &l.narrow, "80") })
	all.Go(func() { frame(2, &l.wide, "140") })
	all.Go(func() {
		r, err := b.run(f.library, sooner, "80", limit, "doctor", b.url)
		l.text, errs[3] = r.out, err
	})
	all.Go(func() {
		r, err := b.run(f.library, sooner, "80", limit, "doctor", "--json", b.url)
		if err == nil {
			err = json.Unmarshal([]byte(r.out), &l.says)
		}
		l.code, errs[4] = r.code, err
	})
	all.Wait()
	kept := map[string]string{"narrow.txt": l.narrow, "wide.txt": l.wide, "doctor.txt": l.text}
	for name, text := range kept {
		if err := os.WriteFile(filepath.Join(b.dir, f.name, name), []byte(text), 0o600); err != nil {
			return l, err
		}
	}
	return l, errors.Join(errs...)
}

// record is what llmtop records of a fault.
func (b *bench) record(f fault, script string, length time.Duration) ([]*probes.Sample, error) {
	file := filepath.Join(filepath.Dir(script), "fault.llmrec")
	if _, err := b.run(f.library, script, "80", length+limit, "record", "-o", file, "--duration", length.String(), b.url); err != nil {
		return nil, err
	}
	return samplesOf(file)
}

// samplesOf are all samples of a recording.
func samplesOf(file string) (all []*probes.Sample, err error) {
	r, err := record.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		s, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
}
