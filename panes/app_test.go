package panes

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"llmtop/probes"
	"llmtop/rules"

	"github.com/gdamore/tcell/v2"
)

func TestResizeLive(t *testing.T) {
	r := start(t, 80, 24, &recorder{})
	r.show(firingFrame())
	wide := r.until(func() {
		r.screen.SetSize(160, 48)
		if err := r.screen.PostEvent(tcell.NewEventResize(160, 48)); err != nil {
			t.Error(err)
		}
	}, func(*App) bool { w, h := r.screen.Size(); return w == 160 && h == 48 })
	for _, want := range [...]string{"│", "slowest in flight", "CPU profile"} {
		if !strings.Contains(wide, want) {
			t.Errorf("at 160x48 no %q:\n%s", want, wide)
		}
	}
}

// TestLatestFrameWins shows many frames while nobody draws: the caller never
// waits and the last one is seen.
func TestLatestFrameWins(t *testing.T) {
	a := NewApp(newScreen(t, 80, 24), &recorder{})
	for i := range 1000 {
		a.Show(Frame{Title: fmt.Sprint("frame ", i)})
	}
	if got := (<-a.frames).Title; got != "frame 999" {
		t.Errorf("kept %q", got)
	}
}

// TestStopWhileShowing stops while four goroutines show frames; all of them and
// Run return, and Show and Stop work on afterwards.
func TestStopWhileShowing(t *testing.T) {
	for range 20 {
		r := start(t, 80, 24, &recorder{})
		frame := normalFrame()
		var showing sync.WaitGroup
		for range 4 {
			showing.Go(func() {
				for range 25 {
					r.app.Show(frame)
				}
			})
		}
		r.app.Stop()
		<-r.done
		showing.Wait()
		r.app.Show(frame)
		r.app.Stop()
		if r.err != nil {
			t.Fatal(r.err)
		}
	}
}

func TestStopBeforeRun(t *testing.T) {
	a := NewApp(newScreen(t, 80, 24), &recorder{})
	a.Stop()
	if err := a.Run(); err != nil {
		t.Error(err)
	}
}

// TestPanicRestoresTheTerminal lets a pane panic: Run finishes the screen and
// returns an error that says where.
func TestPanicRestoresTheTerminal(t *testing.T) {
	screen := &finishedScreen{SimulationScreen: newScreen(t, 80, 24)}
	a := NewApp(screen, &recorder{})
	a.Show(Frame{Ticks: []*rules.Tick{{Point: &probes.Point{Sample: &probes.Sample{}, Engines: nil}}, nil}})
	err := a.Run()
	if err == nil || !strings.Contains(err.Error(), "drawing the screen") || !strings.Contains(err.Error(), "view.go") {
		t.Errorf("got %v, want the panic with its stack", err)
	}
	if !screen.finished {
		t.Error("the terminal was not restored")
	}
}

type finishedScreen struct {
	tcell.SimulationScreen
	finished bool
}

func (s *finishedScreen) Fini() { s.finished = true; s.SimulationScreen.Fini() }

// TestTerminalErrorEndsRun is a connection that broke.
func TestTerminalErrorEndsRun(t *testing.T) {
	r := start(t, 80, 24, &recorder{})
	r.show(normalFrame())
	if err := r.screen.PostEvent(tcell.NewEventError(syscall.EIO)); err != nil {
		t.Fatal(err)
	}
	<-r.done
	if r.err == nil || !strings.Contains(r.err.Error(), "reading the terminal") {
		t.Errorf("got %v", r.err)
	}
}

func TestSignalsEndRun(t *testing.T) {
	for _, sig := range [...]syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			r := start(t, 80, 24, &recorder{})
			r.show(normalFrame()) // Run listens from here on
			if err := syscall.Kill(syscall.Getpid(), sig); err != nil {
				t.Fatal(err)
			}
			<-r.done
			if r.err != nil {
				t.Error(r.err)
			}
		})
	}
}

// BenchmarkFrame measures a whole frame, composed, painted and shown on cells in
// memory, and composing alone. cpu-ms/op is processor time, which a busy machine
// does not change.
func BenchmarkFrame(b *testing.B) {
	frame := firingFrame()
	for _, size := range [...]struct{ w, h int }{{80, 24}, {200, 50}} {
		screen := newScreen(b, size.w, size.h)
		a := NewApp(screen, &recorder{})
		a.take(frame)
		measure := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(b *testing.B) {
				b.ReportAllocs()
				before := processorTime(b)
				for b.Loop() {
					f()
				}
				b.ReportMetric((processorTime(b)-before)*1000/float64(b.N), "cpu-ms/op")
			})
		}
		measure("compose", func() { compose(newView(frame, 0, false), size.w, size.h) })
		measure("whole", func() {
			screen.Clear()
			a.draw(screen, 0, 0, size.w, size.h)
			screen.Show()
		})
	}
}

// processorTime is what this process has used of all cores, in seconds.
func processorTime(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
