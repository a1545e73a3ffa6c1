package probes

import (
	"fmt"
	"slices"
	"testing"
)

func TestHostEvents(t *testing.T) {
	const mebibyte = 1 << 20
	for _, c := range []struct {
		name    string
		seconds int
		at      func(i int, s *Sample)
		want    []string
	}{
		{"kills on the host", 80, func(i int, s *Sample) {
			s.Host = &Host{OOMKillsTotal: Some(3.0)}
			if i >= 5 {
				s.Host.OOMKillsTotal = Some(4.0)
			}
			if i >= 10 {
				s.Host.OOMKillsTotal = Some(6.0)
			}
		}, []string{"5s oom-kill the kernel killed a process for want of memory", "1m5s oom-kill the kernel killed 2 processes for want of memory"}},
		{"a kill in the engine's group, which the host counts a tick later", 90, func(i int, s *Sample) {
			s.Host, s.Process = &Host{OOMKillsTotal: Some(3.0)}, &Process{PID: 9, CgroupOOMKillsTotal: Some(0.0)}
			if i >= 5 {
				s.Process.CgroupOOMKillsTotal = Some(1.0)
			}
			if i >= 6 {
				s.Host.OOMKillsTotal = Some(4.0)
			}
			if i >= 70 {
				s.Host.OOMKillsTotal = Some(5.0)
			}
		}, []string{"5s oom-kill the kernel killed a process of the engine's group for want of memory", "1m10s oom-kill the kernel killed a process for want of memory"}},
		{"nobody tells of kills", 20, func(i int, s *Sample) {
			s.Host = &Host{OOMKillsTotal: None[float64](NotExposed)}
			if i == 10 {
				s.Host.OOMKillsTotal = Some(8.0)
			}
		}, nil},
		{"another engine's group is no counter that grew", 20, func(i int, s *Sample) {
			s.Process = &Process{PID: 9, CgroupOOMKillsTotal: Some(0.0)}
			if s.Probes = []ProbeStatus{{Name: "scrape a"}, {Name: "scrape b"}}; i >= 5 {
				s.Process = &Process{PID: 10, CgroupOOMKillsTotal: Some(7.0)}
			}
		}, nil},
		{"a file system fills up and is cleared", 40, func(i int, s *Sample) {
			free := 500.0 * mebibyte
			if i >= 5 && i < 20 {
				free = 3 * mebibyte
			}
			s.Host = &Host{Filesystems: []Filesystem{{Mount: "/tmp", TotalBytes: Some(1000.0 * mebibyte), FreeBytes: Some(free)}, {Mount: "/proc", TotalBytes: Some(0.0), FreeBytes: Some(0.0)},
				{Mount: "/nfs", TotalBytes: None[float64](Stale), FreeBytes: None[float64](Stale)}}}
		}, []string{"5s filesystem-full file system /tmp: nearly full (less than 1 % free)", "29s filesystem-full file system /tmp: no more nearly full (less than 1 % free), after 14 s"}},
		{"the engine's own root is full, not the host's", 10, func(i int, s *Sample) {
			free := 500.0 * mebibyte
			if i >= 5 {
				free = 3 * mebibyte
			}
			s.Host = &Host{Filesystems: []Filesystem{{Mount: "/", TotalBytes: Some(1000.0 * mebibyte), FreeBytes: Some(500.0 * mebibyte)},
				{Mount: "/", Engine: true, TotalBytes: Some(1000.0 * mebibyte), FreeBytes: Some(free)}}}
		}, []string{"5s filesystem-full file system / of the engine: nearly full (less than 1 % free)"}},
		{"an interface goes down; one that was never up and a virtual one do not", 20, func(i int, s *Sample) {
			s.Host = &Host{NICs: []NIC{{Name: "eth0", Up: i < 5}, {Name: "eth1"}, {Name: "veth0", Kind: "virtual", Up: i < 5}}}
		}, []string{"5s network-link interface eth0: down"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := story(c.seconds, c.at); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestEveryKindOfLastingEventIsListed(t *testing.T) {
	for _, kind := range []string{EventGPUMemory, EventGPURecovery, EventGPUPCIe, EventGPUNVLink, EventOOMKill, EventFilesystem, EventLinkDown} {
		if !slices.Contains(EventKinds, kind) {
			t.Errorf("%s is not listed: it is masked in recordings that are given away", kind)
		}
	}
}

// What is watched is bounded, whatever names come.
func TestConditionsAreBounded(t *testing.T) {
	var c conditions
	for i := range 50 {
		s := &Sample{Host: &Host{}}
		for j := range 200 {
			name := fmt.Sprintf("%d-%d", i, j)
			s.Host.NICs = append(s.Host.NICs, NIC{Name: name, Up: true})
			s.Host.Filesystems = append(s.Host.Filesystems, Filesystem{Mount: name, TotalBytes: Some(1.0), FreeBytes: Some(0.0)})
		}
		c.events(s)
	}
	if len(c.on) > maxConditions || len(c.up) > maxConditions {
		t.Errorf("%d conditions and %d interfaces, want at most %d", len(c.on), len(c.up), maxConditions)
	}
}
