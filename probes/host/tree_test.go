package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree lays the files of an archive in testdata out below a new root. The
// archive is text: after a comment, each file follows a line "-- path --".
func tree(t testing.TB, archive string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for i, part := range strings.Split("\n"+string(text), "\n-- ") {
		if path, body, ok := strings.Cut(part, " --\n"); ok && i > 0 {
			put(t, root, path, body+"\n")
		}
	}
	return root
}

func put(t testing.TB, root, path, body string) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, root, path string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(root, path)); err != nil {
		t.Fatal(err)
	}
}
