package engine

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
)

// An engine whose steps fail one after the other is not ready, says why in its log,
// and is ready again once a step succeeds.
func TestStepsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := true
		var log bytes.Buffer
		e := startFake(t, func(c *Config, f *fakeRunner) {
			c.Log = NewEventLog(&log, LogSync)
			f.before = func(int) error {
				if broken {
					return errBroken
				}
				return nil
			}
		})
		defer e.stop()
		for n := range failuresKept {
			if w := e.get("/health"); w.Code != 200 {
				t.Errorf("after %d failed steps: %d", n, w.Code)
			}
			if w := e.post(t.Context(), "/v1/completions", completion(3, 2, "")); w.Code != 500 {
				t.Errorf("%d", w.Code)
			}
			synctest.Wait()
		}
		if w := e.get("/health"); w.Code != 503 || !strings.Contains(w.Body.String(), "steps failed") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if n := strings.Count(log.String(), errBroken.Error()); n != failuresKept {
			t.Errorf("the log tells of %d failed steps:\n%s", n, &log)
		}
		broken = false
		if w := e.post(t.Context(), "/v1/completions", completion(3, 2, "")); w.Code != 200 {
			t.Errorf("%d", w.Code)
		}
		synctest.Wait()
		if w := e.get("/health"); w.Code != 200 {
			t.Errorf("afterwards: %d", w.Code)
		}
	})
}
