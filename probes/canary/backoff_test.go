package canary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmtop/probes"
)

// TestBacksOff: a refusal is data and no error; after three in a row canaries become
// rarer, and a good one restores the pace.
func TestBacksOff(t *testing.T) {
	for _, status := range []int{429, 503} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var asked []int // seconds
			healthy := 2000
			p := New("http://gpu-7:8000", Options{Transport: inProcess(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					http.NotFound(w, r)
					return
				}
				second := int(time.Since(began).Seconds())
				asked = append(asked, second)
				if second < healthy {
					http.Error(w, "busy", status)
					return
				}
				io.WriteString(w, strings.Join(tokens(8), ""))
			})})
			for range 215 {
				section, err := p.Read(context.Background())
				if c, ok := section.(*probes.Canary); ok && err != nil || ok && c.Status != status && c.Status != 200 {
					t.Errorf("%+v, %v", c, err)
				}
				if section == nil && (err == nil || !strings.Contains(err.Error(), "in a row failed: the next one goes in ")) {
					t.Errorf("while waiting: %v", err)
				}
				<-time.After(10 * time.Second)
			}
			got := fmt.Sprint(asked)
			if want := "[0 10 20 40 80 160 320 620 920 1220 1520 1820 2120 2130 2140]"; got != want {
				t.Errorf("asked at %s, want %s", got, want)
			}
		})
	}
}

func TestPaceComesBack(t *testing.T) {
	p := &Probe{o: Options{Pace: 10 * time.Minute}}
	for range 5 {
		p.note(time.Now(), errors.New("x"))
	}
	if wait := time.Until(p.next); wait > 10*time.Minute || wait < 9*time.Minute {
		t.Errorf("a pace beyond 5 minutes: the next in %s", wait)
	}
	p.note(time.Now(), nil)
	if p.row != 0 || !p.next.IsZero() || p.sent != 6 || p.failed != 5 {
		t.Errorf("after a good one: %+v", p)
	}
}
