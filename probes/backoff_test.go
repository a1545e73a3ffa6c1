package probes

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Backoff
		if b.Err() != nil {
			t.Error("a new one holds back")
		}
		refused := fmt.Errorf("page: %w", ErrNotExposed)
		if err := b.Note(refused, 30*time.Second); err != refused {
			t.Errorf("got %v", err)
		}
		<-time.After(29 * time.Second)
		if b.Err() != refused {
			t.Error("asked again too early")
		}
		<-time.After(time.Second)
		if b.Err() != nil {
			t.Error("never asks again")
		}
		b.Note(refused, time.Hour)
		b.Note(nil, time.Hour)
		if b.Err() != nil {
			t.Error("a success is held against the server")
		}
		if b.Note(errors.New("timeout"), time.Hour); b.Err() != nil {
			t.Error("a passing fault is taken for a refusal")
		}
	})
}
