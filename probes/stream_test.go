package probes

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// tripper answers a request without a connection.
type tripper func(r *http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// torn is a body that breaks after its first bytes.
type torn struct{ began bool }

func (b *torn) Close() error { return nil }

func (b *torn) Read(p []byte) (int, error) {
	if b.began {
		return 0, errors.New("connection reset")
	}
	b.began = true
	return copy(p, "begun"), nil
}

func TestPost(t *testing.T) {
	e, err := ParseEndpoint("http://ops:geheim@gpu-7:8000/llm")
	if err != nil {
		t.Fatal(err)
	}
	var got *http.Request
	var sent string
	f := NewFetcher(e, "/v1/completions", FetchOptions{Transport: tripper(func(r *http.Request) (*http.Response, error) {
		b, _ := io.ReadAll(r.Body)
		got, sent = r, string(b)
		return &http.Response{StatusCode: 429, Header: http.Header{}, Body: &torn{}, Request: r}, nil
	})})
	response, err := f.Post(context.Background(), map[string]string{"X-Request-Id": "n-1"}, []byte("{}"))
	if err != nil || response.StatusCode != 429 {
		t.Fatalf("%v, %v", response, err)
	}
	if user, password, _ := got.BasicAuth(); got.Method != "POST" || got.URL.String() != "http://gpu-7:8000/llm/v1/completions" || sent != "{}" ||
		got.Header.Get("X-Request-Id") != "n-1" || user != "ops" || password != "geheim" || !got.Close {
		t.Errorf("sent %+v with %q", got, sent)
	}
	body, err := io.ReadAll(response.Body)
	if string(body) != "begun" || err == nil || !strings.HasPrefix(err.Error(), "http://gpu-7:8000/llm/v1/completions: ") {
		t.Errorf("read %q, %v", body, err)
	}

	f = NewFetcher(e, "/x", FetchOptions{Transport: tripper(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Post(ctx, nil, nil); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "geheim") {
		t.Errorf("got %v", err)
	}
}

// Credentials that may only be sent when asked for are sent then, and only if they may be.
func TestPostWithCredentialsOnDemand(t *testing.T) {
	e, err := ParseEndpoint("http://127.0.0.1:8000")
	if err != nil {
		t.Fatal(err)
	}
	auth, err := BearerAuth("geheim")
	if err != nil {
		t.Fatal(err)
	}
	for _, trusted := range []bool{true, false} {
		var sent []string
		f := NewFetcher(e, "/v1/completions", FetchOptions{Access: Access{Auth: auth, When: func() bool { return trusted }}, Transport: tripper(func(r *http.Request) (*http.Response, error) {
			sent = append(sent, r.Header.Get("Authorization"))
			status := http.StatusUnauthorized
			if r.Header.Get("Authorization") != "" {
				status = http.StatusOK
			}
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
		})})
		var last int
		for range 2 {
			r, err := f.Post(context.Background(), nil, []byte("{}"))
			if err != nil {
				t.Fatal(err)
			}
			last = r.StatusCode
		}
		want := ", "
		if trusted {
			want = ", Bearer geheim, Bearer geheim"
		}
		if got := strings.Join(sent, ", "); got != want || (last == http.StatusOK) != trusted {
			t.Errorf("trusted %v: sent %q, last answer %d", trusted, got, last)
		}
	}
}
