package main

import (
	"slices"
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for typed, want := range map[string]string{
		"http://127.0.0.1:8000":            "http://127.0.0.1:8000",
		":8000":                            "http://127.0.0.1:8000",
		"gpu-7:8000/v1/":                   "http://gpu-7:8000",
		"https://gpu-7/prefix/metrics":     "https://gpu-7/prefix",
		"[::1]:8000":                       "http://[::1]:8000",
		"http://[::1]":                     "http://[::1]",
		"http://h:1/v1?api_key=secret#top": "http://h:1",
		"h:1/prometheus/metrics":           "http://h:1/prometheus/metrics",
		"http://h:1/a/v1/metrics":          "http://h:1/a/v1/metrics",
		"unix:/run/vllm.sock":              "unix:/run/vllm.sock",
		"unix:///run/vllm.sock:/a":         "unix:/run/vllm.sock:/a",
		":8000#netns=4026532281":           "http://127.0.0.1:8000#netns=4026532281",
		"localhost:8000#pid=4242":          "http://127.0.0.1:8000#pid=4242",
	} {
		if got, err := parseTarget(typed); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", typed, got, err, want)
		}
	}
}

// What is no URL is refused in one line, which repeats no password.
func TestParseTargetRefuses(t *testing.T) {
	for _, typed := range []string{
		"", ":", "http://", "::1", "http://[::1", "ftp://h", "/tmp", "h:0", "h:65536", "h:99x", "http://h:", "a.llmrec", "dir/a.llmrec", "h\n\x1b[2J",
		"http://user:secret@h", "user:secret@h:1", "http://user:sec%zzret@h", "ftp://user:secret@h", "http://user:se/secret@h", "http://secret@h", "http://u:secret@h:99x",
		"unix:", "unix:run/x", "unix:/a\nb", ":8000#netns=x", "http://gpu-7:8000#pid=4242",
	} {
		got, err := parseTarget(typed)
		if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "zzret") || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q: %q, %v", typed, got, err)
		}
	}
}

// Addresses that mean the same are one engine.
func TestParseTargetsOnce(t *testing.T) {
	got, err := parseTargets([]string{":8000", "http://localhost:8000/metrics", "[::1]:8000", "0.0.0.0:8000/v1", "gpu-7:8000", ":8001", "gpu-7:8000", ":8000#netns=5", "127.0.0.1:8000#netns=5"})
	want := []string{"http://127.0.0.1:8000", "http://gpu-7:8000", "http://127.0.0.1:8001", "http://127.0.0.1:8000#netns=5"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
