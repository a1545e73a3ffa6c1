//go:build unix

package record

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Opening a pipe that nobody writes to would never return.
func TestOpenPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.llmrec")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
}
