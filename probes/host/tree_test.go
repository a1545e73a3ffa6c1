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

// files lists the files below root.
func files(t testing.TB, root string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			path, err = filepath.Rel(root, path)
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// symlink makes a symbolic link below root.
func symlink(t testing.TB, root, to, path string) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}
