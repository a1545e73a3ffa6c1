package host

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// maxNodes bounds the NUMA nodes; GPUs with memory of their own may be some, without cores.
const maxNodes = 64

// numaNodes reads the nodes of the machine's memory, nil where the kernel knows of none.
func numaNodes(root string) []probes.NUMANode {
	dir := filepath.Join(root, "sys/devices/system/node")
	var nodes []probes.NUMANode
	for _, name := range entries(dir, 4096) {
		number, ok := strings.CutPrefix(name, "node")
		n, err := strconv.ParseUint(number, 10, 16)
		if !ok || err != nil {
			continue
		}
		nodes = append(nodes, probes.NUMANode{Node: int(n)})
	}
	slices.SortFunc(nodes, func(a, b probes.NUMANode) int { return cmp.Compare(a.Node, b.Node) })
	nodes = nodes[:min(len(nodes), maxNodes)]
	for i := range nodes {
		node := &nodes[i]
		prefix := "Node " + strconv.Itoa(node.Node)
		at := filepath.Join(dir, "node"+strconv.Itoa(node.Node))
		text, err := read(at+"/meminfo", nil)
		node.MemoryTotalBytes = keyed(text, err, prefix+" MemTotal", 1024)
		node.MemoryFreeBytes = keyed(text, err, prefix+" MemFree", 1024)
		if list := line(at + "/cpulist"); list != "" {
			if _, ok := parseCPUs(list); ok {
				node.CPUs = list
			}
		}
	}
	return nodes
}

// entries lists a directory, at most so much of it, in order; nothing when it cannot be read.
func entries(dir string, most int) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	list, _ := d.Readdirnames(most)
	slices.Sort(list)
	return list
}

// line is the content of a file of one line, "" when it cannot be read.
func line(path string) string {
	text, err := read(path, nil)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
