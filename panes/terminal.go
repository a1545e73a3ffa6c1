package panes

import (
	"fmt"
	"os"
	"sync"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/term"
)

// openTerminal takes a terminal device over; /dev/tty is the one we run on.
func openTerminal(device string) (tcell.Screen, error) {
	tty, err := tcell.NewDevTtyFromDev(device)
	if err != nil {
		return nil, fmt.Errorf("opening the terminal: %w", err)
	}
	tcell.SetEncodingFallback(tcell.EncodingFallbackASCII) // a locale tcell does not know draws ASCII instead of failing
	screen, err := tcell.NewTerminfoScreenFromTty(&ourTty{Tty: tty, device: device})
	if err != nil {
		return nil, fmt.Errorf("opening the terminal (TERM=%s): %w", os.Getenv("TERM"), err)
	}
	if err := screen.Init(); err != nil {
		return nil, fmt.Errorf("starting the terminal: %w", err)
	}
	return screen, nil
}

// ourTty is a terminal device that may be stopped twice: by the App that gave it
// up, and by tcell when the terminal takes output again after all.
type ourTty struct {
	tcell.Tty
	device string
	once   sync.Once
}

func (t *ourTty) Stop() (err error) {
	t.once.Do(func() { err = t.Tty.Stop() })
	return err
}

// WindowSize is 80x24 where the terminal has no size (0x0, as some remote shells
// and serial lines leave it); tcell would take 25 lines.
func (t *ourTty) WindowSize() (tcell.WindowSize, error) {
	size, err := t.Tty.WindowSize()
	if err != nil || size.Height != fallbackHeight+1 || os.Getenv("LINES") != "" {
		return size, err
	}
	f, err := os.Open(t.device)
	if err != nil {
		return size, nil
	}
	defer f.Close()
	if _, height, err := term.GetSize(int(f.Fd())); err == nil && height == 0 {
		size.Height = fallbackHeight
	}
	return size, nil
}

// watchedScreen is a screen that is already initialised, and that turns an error
// of the terminal (a closed connection) into a stop of the App; tview would end
// its loop by itself and leave the feeder waiting for it.
type watchedScreen struct {
	tcell.Screen
	stop func()
	mu   sync.Mutex
	seen error
}

func (s *watchedScreen) Init() error { return nil }

func (s *watchedScreen) PollEvent() tcell.Event {
	for {
		event := s.Screen.PollEvent()
		failed, ok := event.(*tcell.EventError)
		if !ok {
			return event
		}
		s.mu.Lock()
		s.seen = fmt.Errorf("reading the terminal: %w", failed)
		s.mu.Unlock()
		s.stop()
	}
}

func (s *watchedScreen) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}
