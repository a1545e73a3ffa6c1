//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The tests of the real path run against testdata/fakenvml, built here. NVML binds
// once in a process, so each such test runs itself again as a process of its own.

const fakesEnv = "LLMTOP_TEST_FAKENVML" // folder of the built libraries, set for the child

func TestMain(m *testing.M) { os.Exit(runMain(m)) }

func runMain(m *testing.M) int {
	if os.Getenv(fakesEnv) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "fakenvml")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := buildFakes(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv(fakesEnv, dir)
	return m.Run()
}

const fakeSources = "../../testdata/fakenvml/*.c"

// buildFakes leaves dir empty when there is no C compiler.
func buildFakes(dir string) error {
	sources, err := filepath.Glob(fakeSources)
	if err != nil || len(sources) == 0 {
		return fmt.Errorf("no %s: %v", fakeSources, err)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		return nil
	}
	errs := make(chan error)
	builds := 0
	for name, flag := range map[string]string{"driver": "-DDRIVER", "old": "-DOLD_DRIVER", "minimal": "-DMINIMAL", "wrong": "-DNOT_NVML", "stub": "-DSTUB"} {
		args := append([]string{"-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread",
			"-Wl,-soname,libnvidia-ml.so.1", "-Wl,-z,defs", "-Wl,-Bsymbolic", flag, "-o", filepath.Join(dir, name+".so")}, sources...)
		builds++
		go func() {
			out, err := exec.Command(cc, args...).CombinedOutput()
			if err != nil {
				err = fmt.Errorf("building the fake library: %w\n%s", err, out)
			}
			errs <- err
		}()
	}
	var failed error
	for range builds {
		failed = errors.Join(failed, <-errs)
	}
	return failed
}

// play returns nil in the parent, which only runs the child and reports.
func play(t *testing.T, library, script string) *stage {
	t.Helper()
	if os.Getenv("FAKE_NVML_SCRIPT") == "" {
		runChild(t, library, script)
		return nil
	}
	s := &stage{t: t, clock: os.Getenv("FAKE_NVML_CLOCK")}
	s.lib = newLibrary(libraryFile(library), s.now)
	s.lib.root = t.TempDir() // without the devices of this machine
	s.probe = newProbe(s.lib, s.now)
	t.Cleanup(func() { s.probe.Close() })
	return s
}

func libraryFile(name string) string {
	return filepath.Join(os.Getenv(fakesEnv), name+".so")
}

func runChild(t *testing.T, library, script string) {
	t.Helper()
	sources, err := filepath.Glob(fakeSources)
	if err != nil || len(sources) == 0 {
		t.Fatalf("no %s: %v", fakeSources, err)
	}
	for _, s := range append(sources, filepath.Join(filepath.Dir(fakeSources), "fake.h")) {
		if _, err := os.Stat(s); err != nil { // tells go test's cache, within a test, what it depends on
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(libraryFile("driver")); err != nil {
		t.Skip("no C compiler to build the fake NVML with")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"script": script, "clock": "0"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	// The race detector would sleep a second at the end of each child.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"), "FAKE_NVML_SCRIPT="+filepath.Join(dir, "script"), "FAKE_NVML_CLOCK="+filepath.Join(dir, "clock"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in a process of its own: %v\n%s", err, out)
	}
}
