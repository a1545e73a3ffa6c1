package host

import (
	"slices"
	"strings"
	"testing"
)

func TestCgroupV1(t *testing.T) {
	s := readProcess(t, NewProcess(tree(t, "process-v1.txtar"), fixed(42)))
	if s.CPULimitCores.Or(-1) != 0.5 || s.CgroupPeriodsTotal.Or(-1) != 400 || s.CgroupThrottledTotal.Or(-1) != 100 || s.CgroupThrottledSecTotal.Or(-1) != 3 {
		t.Errorf("got %+v", s)
	}
}

func TestCgroupDirs(t *testing.T) {
	cases := []struct {
		name, membership string
		want             []string
	}{
		{"v2", "0::/a/b\n", []string{"/c/a/b", "/c/a", "/c", "/c/unified/a/b", "/c/unified/a", "/c/unified"}},
		{"v1 first", "0::/\n4:cpu:/x\n2:cpuset:/y\n", []string{"/c/cpu/x", "/c/cpu", "/c/cpu/x", "/c/cpu", "/c", "/c/unified"}},
		{"not upwards out", "0::/../../etc\n", nil},
		{"nonsense", "hello\n1:2\n", nil},
	}
	for _, c := range cases {
		if got := cgroupDirs("/c", c.membership); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	if got := upwards("/c", "/"+string(make([]byte, 200))); len(got) > 32 {
		t.Errorf("%d directories", len(got))
	}
}

func TestQuota(t *testing.T) {
	for text, want := range map[string]float64{"150000 100000": 1.5, "max 100000": 0, "-1 100000": 0, "5": 0, "1 0": 0, "": 0, "x y": 0} {
		var fields [][]byte
		for _, f := range strings.Fields(text) {
			fields = append(fields, []byte(f))
		}
		if got := quota(fields); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
