package host

import "llmtop/probes"

// fillMemory reads /proc/meminfo and /proc/vmstat; file reads one of the machine's files.
func fillMemory(s *probes.Host, file func(string) ([]byte, error)) {
	text, err := file("proc/meminfo")
	s.MemoryTotalBytes = keyed(text, err, "MemTotal", 1024)
	s.MemoryAvailableBytes = keyed(text, err, "MemAvailable", 1024)
	s.SwapTotalBytes = keyed(text, err, "SwapTotal", 1024)
	s.SwapFreeBytes = keyed(text, err, "SwapFree", 1024)
	s.DirtyBytes = keyed(text, err, "Dirty", 1024)

	text, err = file("proc/vmstat")
	s.SwapInTotal = keyed(text, err, "pswpin", 1)
	s.SwapOutTotal = keyed(text, err, "pswpout", 1)
	s.MajorFaultsTotal = keyed(text, err, "pgmajfault", 1)
	s.OOMKillsTotal = keyed(text, err, "oom_kill", 1) // since Linux 4.13
}
