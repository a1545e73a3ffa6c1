package ruletest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmtop/rules"
)

func book(t testing.TB) *rules.Book {
	t.Helper()
	b, err := rules.DefaultBook()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCases plays every script of cases/.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("cases/*.rules")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	b := book(t)
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".rules"), func(t *testing.T) {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := Run(f, path, b); err != nil {
				t.Error(err)
			}
		})
	}
}
