package probes

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func echo(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host+r.URL.Path) }

func get(t *testing.T, endpoint string, access Access) (string, error) {
	t.Helper()
	e, err := ParseEndpoint(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	f := NewFetcher(e, e.Page(), FetchOptions{Access: access})
	defer f.Close()
	got, err := f.Get(context.Background(), nil)
	if err != nil {
		return "", err
	}
	return string(got.Body), nil
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vllm.sock")
	if _, err := get(t, "unix:"+path, Access{}); !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "no such socket") {
		t.Errorf("of none: %v", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no Unix sockets here:", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(echo)}
	go server.Serve(l)
	defer server.Close()
	for _, prefix := range []string{"", ":/a"} {
		if got, err := get(t, "unix:"+path+prefix, Access{}); err != nil || got != "localhost"+strings.TrimPrefix(prefix, ":")+"/metrics" {
			t.Errorf("%q: got %q, %v", prefix, got, err)
		}
	}
}

func TestTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	plain := httptest.NewServer(http.HandlerFunc(echo))
	defer plain.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	host := strings.TrimPrefix(server.URL, "https://")
	_, port, _ := net.SplitHostPort(host)
	for _, c := range []struct {
		name, url string
		access    Access
		want      string
		is        error
	}{
		{"with the authority", server.URL, Access{CAs: pool}, "", nil},
		{"unchecked", server.URL, Access{Insecure: true}, "", nil},
		{"unknown authority", server.URL, Access{}, "nobody known here has signed it; name who has with --ca FILE", ErrUntrusted},
		{"another name", "https://localhost:" + port, Access{CAs: pool}, "is not trusted for this name", ErrUntrusted},
		{"plain HTTP to TLS", "http://" + host, Access{}, "the server speaks TLS: use https://", ErrTLS},
		{"TLS to plain HTTP", strings.Replace(plain.URL, "http:", "https:", 1), Access{}, "the server speaks no TLS: use http://", nil},
	} {
		_, err := get(t, c.url, c.access)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A TLS alert is what many servers answer to plain HTTP.
func TestTLSAlert(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback here:", err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err == nil {
			io.ReadFull(c, make([]byte, 16))
			c.Write([]byte("\x15\x03\x01\x00\x02\x02\x46"))
			c.Close()
		}
	}()
	if _, err := get(t, "http://"+l.Addr().String(), Access{}); !errors.Is(err, ErrTLS) {
		t.Errorf("got %v", err)
	}
}

// Nothing follows a redirect to another server, with credentials or without.
func TestRedirects(t *testing.T) {
	auth, _ := KeyAuth("geheim")
	var strangers []string
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		strangers = append(strangers, r.Header.Get("X-API-Key")+r.URL.Path)
	}))
	defer stranger.Close()
	to := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return
		}
		io.WriteString(w, r.Header.Get("X-API-Key")+r.URL.Path)
	}))
	defer server.Close()
	to = "/here"
	if got, err := get(t, server.URL, Access{Auth: auth}); err != nil || got != "geheim/here" {
		t.Errorf("within the server: got %q, %v", got, err)
	}
	for _, to = range []string{stranger.URL + "/metrics", strings.Replace(server.URL, "http", "https", 1), "http://u:p@gpu-7/x"} {
		if _, err := get(t, server.URL, Access{Auth: auth}); err == nil || strings.ContainsAny(err.Error(), "\x1b") || strings.Contains(err.Error(), "u:p") {
			t.Errorf("to %q: %v", to, err)
		} else if strings.HasPrefix(to, stranger.URL) && !strings.Contains(err.Error(), "another server's") {
			t.Errorf("to %q: %v", to, err)
		}
	}
	if len(strangers) > 0 {
		t.Errorf("the other server was asked: %q", strangers)
	}
}

// A proxy of the environment is for other hosts only.
func TestProxies(t *testing.T) {
	asked := []string{}
	for _, s := range []string{"localhost:1", "127.0.0.2:1", "[::1]:1", "0.0.0.0:1", "unix:/run/x", "10.0.0.7:1#netns=5", "http://10.0.0.7:1#pid=5", "gpu-7:1", "https://10.0.0.7"} {
		e, err := ParseEndpoint(s)
		if err != nil {
			t.Fatal(err)
		}
		if NewTransport(e, Access{}).Proxy != nil {
			asked = append(asked, s)
		}
	}
	if want := []string{"gpu-7:1", "https://10.0.0.7"}; !slices.Equal(asked, want) {
		t.Errorf("a proxy is used for %q, want %q", asked, want)
	}
	e, _ := ParseEndpoint("gpu-7:1")
	t.Setenv("HTTP_PROXY", "http://10.0.0.1:3128")
	if _, err := NewTransport(e, Access{}).Proxy(&http.Request{URL: &url.URL{Scheme: "http", Host: "gpu-7:1"}}); err != nil {
		t.Error(err)
	}
}
