package main

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"llmtop/probes/record"
)

// BenchmarkDiagnoseFile reads a recording and folds it, as `llmtop diagnose FILE` does:
// that of an incident in testdata, or the one that LLMTOP_BENCH_RECORDING names.
//
//	go test -run xxx -bench DiagnoseFile ./cmd/llmtop
func BenchmarkDiagnoseFile(b *testing.B) {
	path := os.Getenv("LLMTOP_BENCH_RECORDING")
	if path == "" {
		path = filepath.Join("..", "..", "testdata", "recordings", "queue-backlog.llmrec")
	}
	r, err := record.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	samples := r.Len()
	r.Close()
	b.ReportAllocs()
	cmd := newDiagnoseCommand()
	cmd.SetContext(b.Context())
	cmd.SetErr(io.Discard)
	began, files := cpuTaken(), 0
	for b.Loop() {
		if _, err := diagnoseFile(cmd, path, diagnoseOptions{}, &printer{out: io.Discard}); err != nil {
			b.Fatal(err)
		}
		files++
	}
	cpu := cpuTaken() - began
	b.ReportMetric(float64(cpu.Microseconds())/float64(files*samples), "µs-CPU/sample")
	b.ReportMetric(float64(files*samples)/cpu.Seconds(), "samples/s-CPU")
}

// cpuTaken is user and system time of the process on all cores so far.
func cpuTaken() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
