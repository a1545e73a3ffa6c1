package probes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestAuthHeaders(t *testing.T) {
	bearer, _ := BearerAuth("geheim")
	basic, _ := BasicAuth("ops", "ge:heim")
	key, _ := KeyAuth("geheim")
	for want, auth := range map[string]Auth{"Authorization: Bearer geheim": bearer, "Authorization: Basic b3BzOmdlOmhlaW0=": basic, "X-Api-Key: geheim": key} {
		r, err := http.NewRequest("GET", "http://h", nil)
		if err != nil {
			t.Fatal(err)
		}
		auth.sign(r)
		name, value, _ := strings.Cut(want, ": ")
		if r.Header.Get(name) != value || len(r.Header) != 1 {
			t.Errorf("got %v, want %s", r.Header, want)
		}
		for _, form := range []string{"%v", "%+v", "%s", "%q", "%#v"} {
			if text := fmt.Sprintf(form, auth); strings.Contains(text, "eheim") || strings.Contains(text, "b3Bz") {
				t.Errorf("%s prints %s", form, text)
			}
			if text := fmt.Sprintf(form, Access{Auth: auth}); strings.Contains(text, "eheim") {
				t.Errorf("%s of the access prints %s", form, text)
			}
		}
	}
}

func TestAuthRefusesWhatIsNoHeader(t *testing.T) {
	for _, secret := range []string{"", " geheim", "geheim\n", "ge\r\nX-Evil: heim", "geh\x00eim", "gehëim", strings.Repeat("geheim", 9999)} {
		if _, err := BearerAuth(secret); err == nil || strings.Contains(err.Error(), "heim") {
			t.Errorf("%.20q: %v", secret, err)
		}
	}
	for _, pair := range [][2]string{{"", "geheim"}, {"ops", "ge\nheim"}, {"o\x00ps", "geheim"}} {
		if _, err := BasicAuth(pair[0], pair[1]); err == nil || strings.Contains(err.Error(), "heim") {
			t.Errorf("%q: %v", pair, err)
		}
	}
}

// A server that was named gets the credentials at once; one that was found only when it
// asks for them and the caller says, each time anew, that it may have them.
func TestWhenCredentialsAreSent(t *testing.T) {
	auth, err := BearerAuth("geheim")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		when  []bool // what the caller says each time it is asked; nil: the server was named
		asks  bool   // the server wants credentials
		reads int
		want  []string // Authorization headers that the server saw
		err   string   // of the last read
	}{
		"named":                    {nil, true, 2, []string{"Bearer geheim", "Bearer geheim"}, ""},
		"found, wants none":        {[]bool{}, false, 2, []string{"", ""}, ""},
		"found, may have them":     {[]bool{true, true, true}, true, 2, []string{"", "Bearer geheim", "Bearer geheim"}, ""},
		"found, may not":           {[]bool{false, false}, true, 2, []string{"", ""}, "name the address"},
		"found, another took over": {[]bool{true, true, false, false}, true, 2, []string{"", "Bearer geheim", ""}, "name the address"},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			asked := 0
			o := FetchOptions{Access: Access{Auth: auth}, Transport: handler(func(w http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.Header.Get("Authorization"))
				if c.asks && r.Header.Get("Authorization") == "" {
					w.WriteHeader(http.StatusUnauthorized)
				}
				io.WriteString(w, "a 1\n")
			})}
			if c.when != nil {
				o.Access.When = func() bool { asked++; return c.when[asked-1] }
			}
			e, _ := ParseEndpoint("http://127.0.0.1:8000")
			f := NewFetcher(e, "/metrics", o)
			var err error
			for range c.reads {
				_, err = f.Get(context.Background(), nil)
			}
			if !slices.Equal(seen, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("the server saw %q, error %v", seen, err)
			}
		})
	}
}

// The error says which flag helps.
func TestErrorsOfCredentials(t *testing.T) {
	auth, _ := BearerAuth("geheim")
	for challenge, want := range map[string]string{
		"":                    "give them with --auth bearer:TOKEN",
		`Basic realm="x"`:     "give them with --auth basic:USER:PASSWORD",
		`Bearer realm="vllm"`: "give them with --auth bearer:TOKEN",
	} {
		for _, code := range []int{401, 403} {
			e, _ := ParseEndpoint("http://gpu-7:8000")
			transport := handler(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("WWW-Authenticate", challenge)
				w.WriteHeader(code)
			})
			_, err := NewFetcher(e, "/metrics", FetchOptions{Transport: transport}).Get(context.Background(), nil)
			if err == nil || !strings.Contains(err.Error(), want) || !Denied(err) {
				t.Errorf("%d %q: %v", code, challenge, err)
			}
			_, err = NewFetcher(e, "/metrics", FetchOptions{Transport: transport, Access: Access{Auth: auth}}).Get(context.Background(), nil)
			if err == nil || !strings.Contains(err.Error(), "refuses the credentials") || strings.Contains(err.Error(), "geheim") {
				t.Errorf("%d %q: %v", code, challenge, err)
			}
		}
	}
}
