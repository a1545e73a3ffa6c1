package scrape

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

// read scrapes a server once, through a real socket.
func read(t *testing.T, url string, o Options) (*probes.Scrape, error) {
	t.Helper()
	p := New(url, o)
	defer p.Close()
	section, err := p.Read(context.Background())
	if section == nil {
		return nil, err
	}
	return section.(*probes.Scrape), err
}

// raw answers every connection with these bytes and closes it.
func raw(t *testing.T, write func(c net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			http.ReadRequest(bufio.NewReader(c)) // what is asked does not matter
			write(c)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return "http://" + l.Addr().String()
}

func text(s string) func(net.Conn) { return func(c net.Conn) { io.WriteString(c, s) } }

// repeat writes s until the client is gone.
func repeat(head, s string) func(net.Conn) {
	return func(c net.Conn) {
		io.WriteString(c, head)
		chunk := []byte(strings.Repeat(s, 1+(32<<10)/len(s)))
		for {
			if _, err := c.Write(chunk); err != nil {
				return
			}
		}
	}
}

const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n"

// Answers that are no page, on the wire: each gives one line that says what is wrong.
func TestHostileAnswers(t *testing.T) {
	gz := gzipped(t, strings.Repeat("a 1\n", 1000))
	cases := []struct {
		name   string
		answer func(net.Conn)
		want   string
	}{
		{"an endless body", repeat(ok+"\r\n", "a 1\n"), "is larger than 1 MiB: not read"},
		{"an endless chunked body", repeat(ok+"Transfer-Encoding: chunked\r\n\r\n", "4\r\na 1\n\r\n"), "is larger than 1 MiB: not read"},
		{"a body of 200 MB, announced", text(ok + "Content-Length: 200000000\r\n\r\na 1\n"), "is 190 MiB, the limit is 1 MiB: not read"},
		{"an endless line", repeat(ok+"\r\n", "a"), "is larger than 1 MiB: not read"},
		{"gzip that nobody asked for", text(ok + "Content-Encoding: gzip\r\n\r\n" + gz), "came gzip-encoded without being asked to"},
		{"gzip that does not say so", text(ok + "\r\n" + gz), "found binary data, not Prometheus metrics"},
		{"gzip as a transfer coding", text(ok + "Transfer-Encoding: gzip, chunked\r\n\r\n" + gz), "unsupported transfer encoding"},
		{"a coding nobody knows", text(ok + "Content-Encoding: \x1b[31mx\r\n\r\n" + gz), ""},
		{"HTML", text("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html>hello</html>"), "found HTML, not Prometheus metrics"},
		{"reset in the body", func(c net.Conn) {
			io.WriteString(c, ok+"Content-Length: 100\r\n\r\na 1\n")
			c.(*net.TCPConn).SetLinger(0)
		}, ""},
		{"cut in the body", text(ok + "Content-Length: 100\r\n\r\na 1\n"), "unexpected EOF"},
		{"cut in a chunk", text(ok + "Transfer-Encoding: chunked\r\n\r\nff\r\na 1\n"), "unexpected EOF"},
		{"cut in the header", text("HTTP/1.1 200 OK\r\nContent-Ty"), "malformed MIME header"},
		{"nothing at all", text(""), "EOF"},
		{"no HTTP", text("SSH-2.0-OpenSSH_9.6\r\n"), "malformed HTTP"},
		{"a header bomb", repeat("HTTP/1.1 200 OK\r\n", "X-Junk: 0123456789\r\n"), "exceeded"},
		{"a header without end", repeat("HTTP/1.1 200 OK\r\nX-Junk: ", "0123456789"), "exceeded"},
		{"100 Continue for ever", repeat("", "HTTP/1.1 100 Continue\r\n\r\n"), ""},
		{"103 Early Hints for ever", repeat("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), ""},
		{"204", text("HTTP/1.1 204 No Content\r\n\r\n"), "the server answered 204 No Content"},
		{"206", text("HTTP/1.1 206 Partial Content\r\nContent-Length: 4\r\n\r\na 1\n"), "the server answered 206 Partial Content"},
		{"304", text("HTTP/1.1 304 Not Modified\r\n\r\n"), "the server answered 304 Not Modified"},
		{"999", text("HTTP/1.1 999 \x1b[2Jnope\r\nContent-Length: 0\r\n\r\n"), "the server answered 999"},
		{"a status that is no number", text("HTTP/1.1 20x OK\r\n\r\n"), "malformed HTTP"},
		{"an error page that never ends", repeat("HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\n\r\n", "sorry "), "the server answered 500 Internal Server Error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			url := raw(t, c.answer)
			before := allocated()
			s, err := read(t, url, Options{MaxBytes: 1 << 20, Timeout: 10 * time.Second})
			if got := (allocated() - before) >> 20; got > 8 {
				t.Errorf("%d MiB allocated under a limit of 1 MiB", got)
			}
			if err == nil || s != nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v and %v, want %q", s, err, c.want)
			}
			if clean := probes.Printable(err.Error(), 1000); clean != err.Error() || len(err.Error()) > 400 || !strings.HasPrefix(err.Error(), "http://127.0.0.1:") {
				t.Errorf("not one clean line: %q", err)
			}
		})
	}
}

// allocated is what this process ever allocated, in bytes.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// The same under the limits that users have: 200 MB are neither read nor kept.
func TestHostileBodies(t *testing.T) {
	line := "a{b=\"" + strings.Repeat("x", 1000) + "\"} 1\n"
	megabyte := []byte(strings.Repeat(line, 1000))
	for name, answer := range map[string]func(net.Conn){
		"endless": repeat(ok+"\r\n", line),
		"200 MB": func(c net.Conn) {
			io.WriteString(c, ok+"\r\n")
			for range 200 {
				if _, err := c.Write(megabyte); err != nil {
					return
				}
			}
		},
	} {
		url := raw(t, answer)
		before := allocated()
		s, err := read(t, url, Options{Timeout: time.Minute})
		if err == nil || s != nil || !strings.HasSuffix(err.Error(), "/metrics is larger than 16 MiB: not read") {
			t.Errorf("%s: got %v, %v", name, s, err)
		}
		if got := (allocated() - before) >> 20; got > 128 { // a buffer that doubles
			t.Errorf("%s: %d MiB allocated", name, got)
		}
	}
}

// Odd answers that hold a page: it is read.
func TestOddAnswers(t *testing.T) {
	cases := []struct{ name, answer string }{
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\na 1\n"},
		{"1xx before it", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok + "\r\na 1\n"},
		{"a picture by its type", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nConnection: close\r\n\r\na 1\n"},
		{"HTML by its type", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\na 1\n"},
		{"JSON by its type", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\na 1\n"},
		{"no type", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\na 1\n"},
		{"identity coding", ok + "Content-Encoding: identity\r\n\r\na 1\n"},
		{"one byte a chunk", ok + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\n \r\n1\r\n1\r\n1\r\n\n\r\n0\r\n\r\n"},
		{"trailers", ok + "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n4\r\na 1\n\r\n0\r\nX: y\r\n\r\n"},
	}
	for _, c := range cases {
		s, err := read(t, raw(t, text(c.answer)), Options{Timeout: 10 * time.Second})
		if err != nil || s == nil || len(s.Values) != 1 || s.Values[0] != 1 {
			t.Errorf("%s: got %+v, %v", c.name, s, err)
		}
	}
}

// What never comes to an end is given up when the time is over.
func TestHostilePace(t *testing.T) {
	var hold = make(chan struct{})
	wait := func(c net.Conn) { <-hold }
	cases := []struct {
		name   string
		answer func(net.Conn)
	}{
		{"never answers", wait},
		{"101 and silence", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\n\r\n"); wait(c) }},
		{"half a header", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nX: "); wait(c) }},
		{"half a body", func(c net.Conn) { io.WriteString(c, ok+"Content-Length: 9\r\n\r\na 1\n"); wait(c) }},
		{"an error without its text", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\n"); wait(c) }},
		{"a redirect without its text", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 302 Found\r\nContent-Length: 9\r\n\r\n"); wait(c) }},
	}
	var urls []string
	for _, c := range cases {
		urls = append(urls, raw(t, c.answer))
	}
	defer close(hold) // before the servers are waited for
	for i, c := range cases {
		if s, err := read(t, urls[i], Options{Timeout: 30 * time.Millisecond}); err == nil || s != nil {
			t.Errorf("%s: got %v, %v", c.name, s, err)
		}
	}
}

// Redirects are followed a few times; credentials stay with the host they are for.
func TestHostileRedirects(t *testing.T) {
	seen := ""
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get("Authorization")
		io.WriteString(w, "a 1\n")
	}))
	defer elsewhere.Close()
	other := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	var to string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	to = other + "/metrics"
	read(t, server.URL, Options{Access: token(t, "t0ken")}) // followed or refused
	read(t, strings.Replace(server.URL, "//", "//ops:geheim@", 1), Options{})
	if seen != "" {
		t.Errorf("another host was given %q", seen)
	}
	for _, c := range []string{server.URL + "/metrics", "//", "ftp://127.0.0.1/", "file:///etc/passwd", "http://127.0.0.1:1/x", "http://%zz/", "javascript:1"} {
		to = c
		if s, err := read(t, server.URL, Options{Access: token(t, "t0ken")}); err == nil || s != nil || strings.Contains(err.Error(), "t0ken") {
			t.Errorf("redirected to %s: got %v, %v", c, s, err)
		}
	}
}

// Pages that are too much: what fits is kept, the reason is said, and what is
// allocated has to do with the limits and not with the page.
func TestHostilePages(t *testing.T) {
	var series strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&series, "a{b=\"%d\"} 1\n", i)
	}
	var labels strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&labels, "l%d=\"v\",", i)
	}
	cases := []struct {
		name, page    string
		kept, dropped int
		want          string
		most          uint64 // allocated, MiB
	}{
		{"a million series", series.String(), 20000, 0, "980000 series beyond the limit of 20000 left out", 128},
		{"100 000 labels", "a{" + labels.String() + "} 1\nb 2\n", 1, 1, "", 32},
		{"a label of 10 MB", "a{b=\"" + strings.Repeat("x", 10<<20) + "\"} 1\nb 2\n", 1, 1, "", 64},
		{"10 MB of HELP", "# HELP b " + strings.Repeat("x", 10<<20) + "\nb 2\n", 1, 0, "", 64},
		{"10 MB of TYPE", "# TYPE b " + strings.Repeat("x", 10<<20) + "\nb 2\n", 1, 0, "", 64},
		{"200 000 TYPE lines", strings.Repeat("# TYPE b gauge\n", 200_000) + "b 2\n", 1, 0, "", 24},
		{"lines of labels", strings.Repeat("a{"+strings.Repeat("b=\"c\",", 8000)+"} 1\n", 200) + "b 2\n", 1, 200, "", 160},
		{"no sample in 10 MB", strings.Repeat("no sample here\n", 700_000), 0, 0, "not Prometheus metrics", 96},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				io.WriteString(w, c.page)
			}))
			defer server.Close()
			p := New(server.URL, Options{Timeout: time.Minute, MaxBytes: 32 << 20})
			defer p.Close()
			for round := range 2 {
				p.pause = pause{} // else the server would be left alone
				before := allocated()
				section, err := p.Read(context.Background())
				after := allocated()
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Fatalf("error %v, want %q", err, c.want)
				}
				s, _ := section.(*probes.Scrape)
				if s == nil {
					s = &probes.Scrape{}
				}
				if len(s.Values) != c.kept || s.Dropped != c.dropped {
					t.Errorf("%d series and %d bad lines, want %d and %d", len(s.Values), s.Dropped, c.kept, c.dropped)
				}
				if got := (after - before) >> 20; got > c.most {
					t.Errorf("round %d: %d MiB allocated, want at most %d", round, got, c.most)
				}
			}
		})
	}
}

// A page may lack its last line end. But one that used to have it was cut, and its
// last value may be the half of a number: 20 of 20480 would look like a restart.
func TestACutPage(t *testing.T) {
	page := "a 20480\nb 20480\n"
	p := New("gpu-7:8000", Options{Transport: inProcess(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, page) })})
	const cut = "http://gpu-7:8000/metrics: the page breaks off in the middle of a line, after 1 series"
	for _, c := range []struct {
		page    string
		values  []float64
		dropped int
		err     string
	}{
		{page, []float64{20480, 20480}, 0, ""},
		{"a 20480\nb 20", []float64{20480}, 1, cut},
		{"a 20480\nb 20", []float64{20480}, 1, cut},
		{"a 20480\nb 20481\n", []float64{20480, 20481}, 0, ""},
	} {
		page = c.page
		section, err := p.Read(context.Background())
		s, _ := section.(*probes.Scrape)
		if s == nil || !slices.Equal(s.Values, c.values) || s.Dropped != c.dropped || fmt.Sprint(err) != fmt.Sprint(c.err) && (c.err != "" || err != nil) {
			t.Errorf("%q: got %+v, %v; want %v, %d dropped, %q", c.page, s, err, c.values, c.dropped, c.err)
		}
	}
}

// What a parser remembers of pages is bounded, also when nothing comes twice.
func TestWhatAParserRemembers(t *testing.T) {
	p := NewParser(0)
	p.names.maxBytes = 1 << 20
	for i := range 30 {
		var page bytes.Buffer
		for k := range 4 {
			fmt.Fprintf(&page, "a{b=\"%d-%d-%s\"} 1\n", i, k, strings.Repeat("x", 60<<10))
			fmt.Fprintf(&page, "bad %d-%d-%s\n", i, k, strings.Repeat("x", 100<<10))
			fmt.Fprintf(&page, "# TYPE t%d-%d %s\n", i, k, strings.Repeat("x", 100<<10))
		}
		p.Parse(page.Bytes())
		known, laid := 0, 0
		for text := range p.names.known {
			known += len(text)
		}
		for _, text := range append(p.layout.texts, p.layout.types...) {
			laid += len(text)
		}
		if known > 2<<20 || laid > 1<<20 {
			t.Fatalf("page %d: %d MiB of names and %d MiB of layout remembered", i, known>>20, laid>>20)
		}
	}
}

func gzipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
