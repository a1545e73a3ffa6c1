package probes

import "testing"

func TestSelf(t *testing.T) {
	s := selfReader{pid: 42}.read(t0)
	rss, ok := s.RSSBytes.Get()
	if s.PID != 42 || !s.At.Equal(t0) || !s.CPUSecondsTotal.Seen() || !ok || rss < 1<<20 || rss > 1<<36 {
		t.Errorf("got %+v", s)
	}
}
