package main

import "testing"

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{
		"0": 0, "1000": 1000, "64k": 64 << 10, "64K": 64 << 10, "500M": 500 << 20, "2G": 2 << 30, "1.5G": 3 << 29,
		"1MiB": 1 << 20, "1MB": 1 << 20, "7B": 7, "1T": 1 << 40,
	} {
		var b byteSize
		if err := b.Set(text); err != nil || b != want {
			t.Errorf("%q: %d, %v; want %d", text, b, err, want)
		}
		var again byteSize
		if err := again.Set(b.String()); err != nil || again != b {
			t.Errorf("%q is shown as %q", text, b.String())
		}
	}
	for _, text := range []string{"", "M", "5X", "-1M", "+1", "1e9", "0x10", "inf", "nan", "1.2.3", "5 M", "5Mi b", "99999999T", "1kM", "1iB", "1Mi"} {
		var b byteSize
		if err := b.Set(text); err == nil {
			t.Errorf("%q: %d", text, b)
		}
	}
}
