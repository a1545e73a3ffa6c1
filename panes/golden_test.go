package panes

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden screens")

var scenes = []struct {
	name  string
	frame func() Frame
}{{"normal", normalFrame}, {"empty", emptyFrame}, {"stale", staleFrame}, {"firing", firingFrame}, {"replay", replayFrame}, {"several", severalFrame}}

// TestGoldenScreens draws every scene at three sizes through the running
// application and compares text and styles with testdata.
func TestGoldenScreens(t *testing.T) {
	for _, scene := range scenes {
		for _, size := range [...]struct{ w, h int }{{40, 12}, {80, 24}, {160, 48}} {
			name := fmt.Sprintf("%s.%dx%d", scene.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				golden(t, name+".screen", start(t, size.w, size.h, &recorder{}).show(scene.frame()))
			})
		}
	}
}

// TestPlainIsTheScreen holds the plain text against the cells of the screen.
func TestPlainIsTheScreen(t *testing.T) {
	for _, scene := range scenes {
		frame := scene.frame()
		golden(t, scene.name+".160x48.txt", Plain(frame, 160, 48))
		frame.Look.ASCII = true
		text := Plain(frame, 80, 24)
		for _, line := range splitLines(text) {
			if !ascii(line) {
				t.Errorf("%s: not ASCII: %q", scene.name, line)
			}
		}
		golden(t, scene.name+".80x24.ascii.txt", text)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update and read the diff)\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}
