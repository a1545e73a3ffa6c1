//go:build !linux || !cgo

package nvml

import "testing"

func TestWithout(t *testing.T) {
	p := New(Options{})
	defer p.Close()
	if g := read(t, p); g.Note != "no NVML device: built without NVML support (cgo)" {
		t.Errorf("%+v", g)
	}
}
