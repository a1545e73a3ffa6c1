package host

import "testing"

func TestCPUSet(t *testing.T) {
	for _, c := range []struct {
		a, b                  string
		count, shared, joined int
	}{
		{"0", "0", 1, 1, 1}, {"0-3,8\n", "2-9", 5, 3, 10}, {"0-31,64-95", "32-63", 64, 0, 96}, {"0-511", "500-600", 512, 12, 601}, {"8191", "0", 1, 0, 2},
	} {
		a, ok := parseCPUs(c.a)
		b, ok2 := parseCPUs(c.b)
		if !ok || !ok2 || a.count() != c.count || a.shared(b) != c.shared || b.shared(a) != c.shared || a.with(b).count() != c.joined {
			t.Errorf("%q and %q: %d cores, %d shared, %d joined", c.a, c.b, a.count(), a.shared(b), a.with(b).count())
		}
	}
	for _, bad := range []string{"", "x", "-", "3-1", "0-99999999", "1,,2", "-1", "0-8192", "1-2-3"} {
		if set, ok := parseCPUs(bad); ok || set != nil {
			t.Errorf("%q: %v", bad, set)
		}
	}
}
