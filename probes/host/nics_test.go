package host

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmtop/probes"
)

func TestNICs(t *testing.T) {
	nic := func(name, kind string, up bool, rx, tx, rxDrops, txDrops, errors, speed probes.Opt[float64]) probes.NIC {
		return probes.NIC{Name: name, Kind: kind, Up: up, RxBytesTotal: rx, TxBytesTotal: tx, RxDropsTotal: rxDrops, TxDropsTotal: txDrops, ErrorsTotal: errors, SpeedBytesPerS: speed}
	}
	want := []probes.NIC{ // physical, ports, what the default route leads through, parts of others; then what is down
		nic("eth0", "ethernet", true, made(1000), made(3000), made(2), made(5), made(5), made(100e9/8)),
		nic("mlx5_0:1", "infiniband", true, made(4000), made(8000), notExposed, made(3), made(9), made(400e9/8)),
		nic("bond0", "virtual", true, made(2000), made(6000), made(0), made(0), made(0), made(200e9/8)),
		nic("ib0", "infiniband", true, made(10), made(20), made(0), made(0), made(0), notExposed),
		nic("eth1", "ethernet", false, made(0), made(0), made(0), made(0), made(0), notExposed),
		nic("mlx5_1:1", "infiniband", false, notExposed, notExposed, notExposed, notExposed, notExposed, notExposed),
	}
	if got := readHost(t, tree(t, "host.txtar")).NICs; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A host with a thousand containers has a thousand interfaces that say nothing of it.
func TestManyInterfaces(t *testing.T) {
	root := tree(t, "host.txtar")
	dev, err := os.ReadFile(filepath.Join(root, "proc/net/dev"))
	if err != nil {
		t.Fatal(err)
	}
	var veths, cards strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&veths, "veth%d: 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7\n", n)
	}
	for n := range 40 {
		fmt.Fprintf(&cards, "p%02d: 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7\n", n)
		put(t, root, fmt.Sprintf("sys/class/net/p%02d/device/vendor", n), "x\n")
		put(t, root, fmt.Sprintf("sys/class/net/p%02d/operstate", n), "up\n")
	}
	put(t, root, "proc/net/dev", veths.String()+string(dev))
	if got := readHost(t, root).NICs; len(got) != 6 || got[0].Name != "eth0" {
		t.Errorf("%+v", got)
	}
	put(t, root, "proc/net/dev", veths.String()+string(dev)+cards.String())
	got := readHost(t, root).NICs
	if len(got) != maxNICs || got[0].Name != "eth0" || got[1].Name != "p00" {
		t.Errorf("%d: %+v", len(got), got)
	}
}

// In a container without a default route all there is is told.
func TestInterfacesOfAContainerWithoutARoute(t *testing.T) {
	root := tree(t, "host-container.txtar")
	remove(t, root, "proc/net/route")
	if got := readHost(t, root).NICs; len(got) != 1 || got[0].Name != "eth0" || got[0].Up || got[0].Kind != "virtual" || got[0].RxBytesTotal.Or(0) != 500 {
		t.Errorf("%+v", got)
	}
	put(t, root, "proc/net/ipv6_route", strings.Repeat("0", 32)+" 00 "+strings.Repeat("0", 32)+" 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n")
	if got := readHost(t, root).NICs; len(got) != 1 || !got[0].Up || got[0].Kind != "virtual" {
		t.Errorf("by IPv6: %+v", got)
	}
}

func TestVirtualFunctionsComeAfterTheirCards(t *testing.T) {
	root := tree(t, "host-container.txtar")
	put(t, root, "proc/net/dev", "a0: 1 1 1 1 1 1 1 1 1 1 1 1\nz9: 1 1 1 1 1 1 1 1 1 1 1 1\n")
	for _, name := range []string{"a0", "z9"} {
		put(t, root, "sys/class/net/"+name+"/device/vendor", "x\n")
		put(t, root, "sys/class/net/"+name+"/operstate", "up\n")
	}
	put(t, root, "sys/class/net/a0/device/physfn/vendor", "x\n")
	if got := readHost(t, root).NICs; len(got) != 2 || got[0].Name != "z9" || got[1].Name != "a0" {
		t.Errorf("%+v", got)
	}
}

// An interface that goes away between two looks leaves no zeros behind.
func TestInterfaceThatGoes(t *testing.T) {
	root := tree(t, "host-container.txtar")
	h := patient(root)
	readAgain(t, h)
	put(t, root, "proc/net/dev", "lo: 1 1 1 1 1 1 1 1 1 1 1 1\n")
	lost := probes.None[float64](probes.Lost)
	if got := readAgain(t, h).NICs; len(got) != 1 || got[0].RxBytesTotal != lost || got[0].ErrorsTotal != lost {
		t.Errorf("%+v", got)
	}
	remove(t, root, "proc/net/dev")
	if got := readAgain(t, h).NICs; len(got) != 1 || got[0].RxBytesTotal != notExposed {
		t.Errorf("without a table: %+v", got)
	}
}

// An adapter that hangs takes its own counters along and nothing else.
func TestPortThatHangs(t *testing.T) {
	root := tree(t, "host.txtar")
	h := patient(root)
	readAgain(t, h)
	path := filepath.Join(root, "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data")
	remove(t, root, "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	h.nics.ports.patience = time.Millisecond
	for range 3 {
		got := readAgain(t, h).NICs
		if got[1].Name != "mlx5_0:1" || got[1].RxBytesTotal != stale || got[1].TxBytesTotal != stale || got[1].TxDropsTotal != made(3) || got[0].RxBytesTotal != made(1000) {
			t.Errorf("%+v", got)
		}
	}
	pipe, err := os.OpenFile(path, os.O_WRONLY, 0) // the one read that is out goes on
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(pipe, 3000)
	pipe.Close()
	if late := <-h.nics.ports.out; late[0].tx != made(12000) {
		t.Errorf("%+v", late)
	}
	h.nics.ports.out, h.nics.ports.patience = nil, time.Hour
	put(t, root, "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "1500\n")
	remove(t, root, "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data")
	if got := readAgain(t, h).NICs; got[1].RxBytesTotal != made(6000) || got[1].TxBytesTotal != notExposed {
		t.Errorf("after it: %+v", got)
	}
}

func TestPortRate(t *testing.T) {
	for text, want := range map[string]probes.Opt[float64]{
		"400 Gb/sec (4X NDR)": made(50e9), "2.5 Gb/sec (1X SDR)": made(2.5e9 / 8), "": notExposed, "0 Gb/sec": notExposed, "x Gb/sec": notExposed, "400": notExposed,
	} {
		if got := portRate(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
