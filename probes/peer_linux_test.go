package probes

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Unix socket at which another user listens than the one expected is not spoken to.
func TestWhoseSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no Unix sockets here:", err)
	}
	asked := make(chan bool, 10)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked <- true; echo(w, r) })}
	go server.Serve(l)
	defer server.Close()
	ours := func(uid int) bool { return uid == os.Geteuid() }
	if _, err := get(t, "unix:"+path, Access{Peer: ours}); err != nil || len(asked) != 1 {
		t.Errorf("ours: %v, asked %d times", err, len(asked))
	}
	_, err = get(t, "unix:"+path, Access{Peer: func(uid int) bool { return uid == os.Geteuid()+1 }})
	if err == nil || !strings.HasSuffix(err.Error(), "the socket is another user's: not spoken to") || len(asked) != 1 {
		t.Errorf("another's: %v, asked %d times", err, len(asked))
	}
	if uid := peerOf(nil); uid != -1 {
		t.Errorf("of no connection: %d", uid)
	}
}
