package enginelog

import (
	"strconv"
	"time"
)

// journalOf prints what a unit writes, or the kernel, from now on.
func journalOf(unit string) printer {
	which := []string{"--unit=" + unit, "--user-unit=" + unit} // of either manager
	if unit == kernel {
		which = []string{"--dmesg"}
	}
	return printer{
		programs: []string{"journalctl"},
		none:     "journalctl is not installed here; name a file: --log FILE",
		answers:  true,
		blind:    "not seeing messages", // of systemd's hint to who is not in its group
		print: func(time.Time) []string {
			return append([]string{"--follow", "--output=cat", "--lines=0", "--no-pager"}, which...)
		},
	}
}

// containerOf prints what a container writes: from now on, and when it was not seen for a
// while (it was started again, say) from where the last look ended.
func containerOf(id string) printer {
	return printer{
		programs: []string{"docker", "podman"},
		none:     "neither docker nor podman is installed here; name a file: --log FILE",
		ask:      []string{"container", "inspect", "--format", "{{.State.Status}}", id},
		print: func(since time.Time) []string {
			if since.IsZero() {
				return []string{"logs", "--follow", "--tail", "0", id}
			}
			return []string{"logs", "--follow", "--since", strconv.FormatInt(since.Unix(), 10) + "." + nanoseconds(since), id}
		},
	}
}

func nanoseconds(t time.Time) string {
	s := strconv.Itoa(1e9 + t.Nanosecond())
	return s[1:]
}
