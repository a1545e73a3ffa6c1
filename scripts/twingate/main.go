// Command twingate holds the simulated engine against what is known of real ones: published
// serving points, queueing theory; and how long a simulated day takes. It prints one line a case
// and fails where a gate is missed.
//
//	go run ./scripts/twingate points|queue|cpu|day
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// gates are the subcommands, by name. Each reports whether its gate is met.
var gates = []struct {
	name string
	run  func(out io.Writer) (bool, error)
}{
	{"points", points}, {"queue", queue}, {"cpu", cpu}, {"day", day},
}

func main() {
	if len(os.Args) != 2 {
		usage()
	}
	for _, g := range gates {
		if g.name != os.Args[1] {
			continue
		}
		met, err := g.run(os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, "twingate:", err)
		}
		if err != nil || !met {
			os.Exit(1)
		}
		return
	}
	usage()
}

func usage() {
	names := make([]string, len(gates))
	for i, g := range gates {
		names[i] = g.name
	}
	fmt.Fprintln(os.Stderr, "usage: twingate", strings.Join(names, "|"))
	os.Exit(2)
}
