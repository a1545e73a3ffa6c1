package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkIdleConnections is what an engine with connections that do nothing takes
// to answer, and what it pays for each of them:
//
//	go test -run none -bench IdleConnections -benchtime 100x ./cmd/llmtop
//
// bytes/conn is the growth of the server's resident memory. The server is a process
// of its own, so 10 000 connections need 10 000 descriptors on either side.
func BenchmarkIdleConnections(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := startServe(b, "--log", "off")
			addr := strings.TrimPrefix(s.url, "http://")
			for _, conn := range idle(b, addr, 100) { // what the first ones need stays
				conn.Close()
			}
			before := residentBytes(b, s.cmd.Process.Pid)
			conns := idle(b, addr, n)
			grown := residentBytes(b, s.cmd.Process.Pid) - before
			for b.Loop() {
				r, err := http.Get(s.url + "/health")
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
			b.ReportMetric(float64(grown)/float64(n), "bytes/conn")
			for _, conn := range conns {
				conn.Close()
			}
		})
	}
}

// residentBytes is the memory of a process that is not swapped out.
func residentBytes(t testing.TB, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(status)); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}
