package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmtop/probes"
)

// headerOf is what a server sees of credentials.
func headerOf(t *testing.T, access probes.Access) string {
	t.Helper()
	seen := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "X-Api-Key"} {
			if v := r.Header.Get(name); v != "" {
				seen += name + ": " + v
			}
		}
		w.Write([]byte("a 1\n"))
	}))
	defer server.Close()
	e, err := probes.ParseEndpoint(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := probes.NewFetcher(e, "/metrics", probes.FetchOptions{Access: access})
	defer f.Close()
	if _, err := f.Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return seen
}

func TestAuth(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return "@" + path
	}
	t.Setenv("MY_KEY", " geheim\n")
	t.Setenv("MY_PAIR", "basic:ops:ge:heim")
	t.Setenv("EMPTY", "")
	const bearer, basic = "Authorization: Bearer geheim", "Authorization: Basic b3BzOmdlOmhlaW0="
	for _, c := range []struct{ auth, env, want, warning, err string }{
		{"", "", "", "", ""},
		{"", "geheim\n", bearer, "", ""},
		{"bearer:geheim", "other", bearer, "", ""},
		{"basic:ops:ge:heim", "", basic, "", ""},
		{"key:geheim", "", "X-Api-Key: geheim", "", ""},
		{"env:MY_KEY", "", bearer, "", ""},
		{"env:MY_PAIR", "", basic, "", ""},
		{file("bare", "geheim\n", 0o600), "", bearer, "", ""},
		{file("form", "key:geheim\r\n", 0o600), "", "X-Api-Key: geheim", "", ""},
		{file("open", "geheim", 0o644), "", bearer, "can be read by others: chmod 600", ""},
		{file("group", "geheim", 0o640), "", bearer, "can be read by others", ""},

		{"geheim", "", "", "", "bearer:TOKEN, basic:USER:PASSWORD, key:VALUE, @FILE or env:NAME"},
		{"token:geheim", "", "", "", "bearer:TOKEN"},
		{"basic:geheim", "", "", "", "USER:PASSWORD"},
		{"bearer:", "", "", "", "one line of printable ASCII"},
		{"bearer:gehe\x1bim", "", "", "", "one line of printable ASCII"},
		{"key:geheim\nX-Evil: y", "", "", "", "one line of printable ASCII"},
		{"env:EMPTY", "", "", "", "env:EMPTY: the variable is not set"},
		{"env:", "", "", "", "name of a variable"},
		{"env:sk-geheim", "", "", "", "name of a variable"},
		{"@" + dir + "/none", "", "", "", "no such file"},
		{"@" + dir, "", "", "", "is a directory"},
		{file("empty", "\n", 0o600), "", "", "", "one line"},
		{file("lines", "geheim\ngeheim\n", 0o600), "", "", "", "one line"},
		{file("huge", strings.Repeat("geheim", 9999), 0o600), "", "", "", "holds more than 16384 bytes"},
		{"", "gehe im\x00", "", "", apiKeyVariable + ": credentials are one line"},
	} {
		if c.env == "" || !strings.ContainsRune(c.env, 0) {
			t.Setenv(apiKeyVariable, c.env)
		} else {
			t.Setenv(apiKeyVariable, "gehe\x01im")
		}
		var warned bytes.Buffer
		o := reachOptions{auth: c.auth}
		err := o.ready(&warned)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%.60q: error %v, want %q", c.auth, err, c.err)
			continue
		}
		if err != nil && strings.Contains(err.Error(), "heim") {
			t.Errorf("%.60q: the error repeats it: %v", c.auth, err)
		}
		if !strings.Contains(warned.String(), c.warning) || (c.warning == "") != (warned.Len() == 0) || strings.Contains(warned.String(), "heim") {
			t.Errorf("%.60q: warning %q, want %q", c.auth, warned.String(), c.warning)
		}
		if err == nil {
			if got := headerOf(t, o.named()); got != c.want {
				t.Errorf("%.60q: sent %q, want %q", c.auth, got, c.want)
			}
		}
	}
}

func TestCertificateFlags(t *testing.T) {
	dir := t.TempDir()
	notPEM := filepath.Join(dir, "x.pem")
	if err := os.WriteFile(notPEM, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]reachOptions{
		"exclude each other":                {ca: notPEM, insecure: true},
		"holds no certificate":              {ca: notPEM},
		"reading certificates":              {ca: filepath.Join(dir, "none")},
		"":                                  {insecure: true},
		"reading certificates: read " + dir: {ca: dir},
	} {
		var warned bytes.Buffer
		err := o.ready(&warned)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
		if o.insecure != strings.Contains(warned.String(), "is not checked") || o.insecure && o.note() == "" {
			t.Errorf("%+v: said %q", o, warned.String())
		}
	}
}
