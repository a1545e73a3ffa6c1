package probes

import (
	"strings"
	"testing"
)

func TestParseEndpoint(t *testing.T) {
	cases := []struct{ in, want, host string }{
		{"127.0.0.1:8000", "http://127.0.0.1:8000", "127.0.0.1:8000"},
		{" http://gpu-7:8000/ ", "http://gpu-7:8000", "gpu-7:8000"},
		{"http://gpu-7:8000/metrics", "http://gpu-7:8000", "gpu-7:8000"},
		{"http://gpu-7:8000/metrics/?token=geheim#x", "http://gpu-7:8000", "gpu-7:8000"},
		{"https://gw/models/a/metrics", "https://gw/models/a", "gw:443"},
		{"http://ops:geheim@gpu-7/", "http://gpu-7", "gpu-7:80"},
		{"http://[::1]:8000", "http://[::1]:8000", "[::1]:8000"},
		{"http://gpu-7:8000/prometheus/metrics", "http://gpu-7:8000/prometheus/metrics", "gpu-7:8000"},
		{"gpu-7:8000/a/v1/metrics/", "http://gpu-7:8000/a/v1/metrics", "gpu-7:8000"},
		{"http://127.0.0.1:8000/metrics#netns=4026532281", "http://127.0.0.1:8000#netns=4026532281", "127.0.0.1:8000"},
		{"localhost:8000/v1/metrics#netns=4026532281", "http://127.0.0.1:8000/v1/metrics#netns=4026532281", "127.0.0.1:8000"},
		{"http://localhost#pid=4242", "http://127.0.0.1#pid=4242", "127.0.0.1:80"},
		{"http://[::1]:8000#pid=4242", "http://[::1]:8000#pid=4242", "[::1]:8000"},
		{"unix:/run/vllm.sock", "unix:/run/vllm.sock", ""},
		{"unix:///run/vllm.sock", "unix:/run/vllm.sock", ""},
		{"unix:/run/vllm.sock:/metrics", "unix:/run/vllm.sock", ""},
		{"unix:/run/a:b.sock:/a/v1/metrics?k=geheim#x", "unix:/run/a:b.sock:/a/v1/metrics", ""},
	}
	for _, c := range cases {
		e, err := ParseEndpoint(c.in)
		if err != nil || e.String() != c.want || e.Host() != c.host {
			t.Errorf("%q: got %q, host %q, %v; want %q, %q", c.in, e, e.Host(), err, c.want, c.host)
		}
		if again, err := ParseEndpoint(e.String()); err != nil || again.String() != c.want || again.Page() != e.Page() || again.Key() != e.Key() {
			t.Errorf("%q is not read back: %q, %v", e, again, err)
		}
	}
}

func TestParseEndpointErrors(t *testing.T) {
	for _, in := range []string{"", "http://", "ftp://gpu-7", "http://ops:geheim@gpu 7:99999x", "http://a\x1b[31m:80", "http://:8000",
		"unix:", "unix:run/x", "unix:/", "unix:/run/\x1b[31mx", "unix:/" + strings.Repeat("x", 200), "unix:/run/x:/a\nb",
		"http://127.0.0.1:8000#netns=", "http://127.0.0.1:8000#netns=x", "127.0.0.1:8000#pid=0", "http://127.0.0.1:8000#pid=99999999999", "http://gpu-7:8000#netns=5"} {
		_, err := ParseEndpoint(in)
		if err == nil {
			t.Errorf("%q: no error", in)
			continue
		}
		if text := err.Error(); strings.Contains(text, "geheim") || strings.ContainsAny(text, "\x1b\n") {
			t.Errorf("%q: unfit error %q", in, text)
		}
	}
}

func TestEndpointPages(t *testing.T) {
	for in, want := range map[string][2]string{
		"gpu-7:8000":                          {"/metrics", "http://gpu-7:8000/metrics"},
		"gpu-7:8000/prometheus/metrics":       {"/prometheus/metrics", "http://gpu-7:8000/prometheus/metrics"},
		"gpu-7:8000/a/v1/metrics":             {"/v1/metrics", "http://gpu-7:8000/a/v1/metrics"},
		"unix:/run/x.sock":                    {"/metrics", "unix:/run/x.sock:/metrics"},
		"http://127.0.0.1:1#netns=5":          {"/metrics", "http://127.0.0.1:1/metrics#netns=5"},
		"http://127.0.0.1:1/v1/metrics#pid=5": {"/v1/metrics", "http://127.0.0.1:1/v1/metrics#pid=5"},
	} {
		e, err := ParseEndpoint(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := NewFetcher(e, e.Page(), FetchOptions{}).URL(); e.Page() != want[0] || got != want[1] {
			t.Errorf("%s: page %s at %s, want %v", in, e.Page(), got, want)
		}
	}
	e, _ := ParseEndpoint("gpu-7:8000")
	if got := e.WithPage("/v1/metrics").WithTLS().String(); got != "https://gpu-7:8000/v1/metrics" {
		t.Error(got)
	}
	if got := e.WithPage("/v1/metrics").WithPage(DefaultPage).String(); got != "http://gpu-7:8000" {
		t.Error(got)
	}
}

// Addresses that mean the same have one key, others have not.
func TestEndpointKey(t *testing.T) {
	groups := [][]string{
		{"localhost:8000", "http://127.0.0.1:8000", "http://[::1]:8000/metrics", "0.0.0.0:8000", "[::]:8000", "LOCALHOST:8000", "[::ffff:127.0.0.1]:8000"},
		{"localhost:8001"}, {"https://localhost:8000"}, {"gpu-7:8000"}, {"localhost:8000/a"}, {"localhost:80", "127.0.0.1"},
		{"127.0.0.1:8000#netns=5", "localhost:8000#netns=5"}, {"127.0.0.1:8000#netns=6"}, {"unix:/run/x", "unix:///run/x"},
	}
	seen := map[string]int{}
	for i, group := range groups {
		for _, s := range group {
			e, err := ParseEndpoint(s)
			if err != nil {
				t.Fatal(err)
			}
			if of, ok := seen[e.Key()]; ok && of != i {
				t.Errorf("%s has the key of %q", s, groups[of])
			}
			seen[e.Key()] = i
		}
	}
	if len(seen) != len(groups) {
		t.Errorf("%d keys of %d engines: %v", len(seen), len(groups), seen)
	}
}

func FuzzParseEndpoint(f *testing.F) {
	for _, s := range []string{"gpu-7:8000", "unix:/run/x:/a/metrics", "http://127.0.0.1:8000#netns=5", "http://u:p@[::1]:1/v1/metrics#pid=7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseEndpoint(s)
		if err != nil {
			if text := err.Error(); Printable(text, len(text)) != text {
				t.Errorf("unfit error %q", text)
			}
			return
		}
		text := e.String()
		if Printable(text, len(text)) != text {
			t.Errorf("unfit %q", text)
		}
		if again, err := ParseEndpoint(text); len(text) < 500 && (err != nil || again.String() != text) {
			t.Errorf("%q: %q is read back as %q, %v", s, text, again, err)
		}
	})
}
