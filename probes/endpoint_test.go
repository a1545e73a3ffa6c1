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
	}
	for _, c := range cases {
		e, err := ParseEndpoint(c.in)
		if err != nil || e.String() != c.want || e.Host() != c.host {
			t.Errorf("%q: got %q, host %q, %v; want %q, %q", c.in, e, e.Host(), err, c.want, c.host)
		}
	}
}

func TestParseEndpointErrors(t *testing.T) {
	for _, in := range []string{"", "http://", "ftp://gpu-7", "http://ops:geheim@gpu 7:99999x", "http://a\x1b[31m:80", "unix:///run/x", "http://:8000"} {
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
