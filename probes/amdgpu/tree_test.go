package amdgpu

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmtop/probes"
)

var began = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// tree lays the files of an archive in testdata out below a new root. The archive is text:
// after a comment, each file follows a line "-- path --".
func tree(t testing.TB, archive string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for i, part := range strings.Split("\n"+string(text), "\n-- ") {
		if path, body, ok := strings.Cut(part, " --\n"); ok && i > 0 {
			put(t, root, path, body+"\n")
		}
	}
	return root
}

func put(t testing.TB, root, path, body string) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

// stage is a probe of a tree, whose clock the test moves.
type stage struct {
	t     testing.TB
	root  string
	probe *Probe
	now   time.Time
}

func newStage(t testing.TB, root string) *stage {
	s := &stage{t: t, root: root, probe: New(root), now: began}
	s.probe.now = func() time.Time { return s.now }
	s.probe.wait = time.Minute // nothing hangs but where a test says so
	return s
}

func (s *stage) read() *probes.GPU {
	s.t.Helper()
	section, err := s.probe.Read(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return section.(*probes.GPU)
}

// device is the first one.
func (s *stage) device() *probes.GPUDevice { s.t.Helper(); return &s.read().Devices[0] }

// later moves the clock.
func (s *stage) later(d time.Duration) { s.now = s.now.Add(d) }

// failing makes the reading of files whose path ends so an error.
func (s *stage) failing(end string, err error) {
	read := func(path string) ([]byte, error) {
		if strings.HasSuffix(path, end) {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		return readFile(path)
	}
	s.probe.files.read = read
	for _, c := range s.probe.cards {
		c.files.read, c.link.read, c.sensors.dir.read = read, read, read
	}
}

// device0 is where the files of card 0 are.
const device0 = "sys/class/drm/card0/device/"

// metricsFile is a file gpu_metrics of a revision in which nothing is told but what is set.
func metricsFile(revision byte, set map[int]uint64) string {
	l := layouts[revision]
	b := make([]byte, l.size)
	for i := range b {
		b[i] = 0xff
	}
	binary.LittleEndian.PutUint16(b, uint16(l.size))
	b[2], b[3] = 1, revision
	for at, v := range set {
		if at >= l.cycles && l.cycles > 0 && at <= l.heat[2] && at != l.clock && at != l.energy {
			binary.LittleEndian.PutUint32(b[at:], uint32(v))
			continue
		}
		binary.LittleEndian.PutUint64(b[at:], v)
	}
	return string(b)
}
