package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// newRoot builds the command tree. `llmtop [URL…]` itself is the live screen.
func newRoot() *cobra.Command {
	var live liveOptions
	root := &cobra.Command{
		Use:   "llmtop [URL…]",
		Short: "Tells why an LLM serving engine is slow",
		Long: `llmtop attaches to a running LLM serving engine and tells why it is slow: the cause
by name, the numbers that prove it, the numbers that rule its look-alikes out, and
the next step with its price. Without a URL it finds what serves on this host
(llmtop find says what, and what keeps an engine from being read). Several URLs are one
service: replicas, or a frontend and its workers.

A URL may also be unix:/run/vllm.sock, or name another network namespace of this host:
http://127.0.0.1:8000#netns=4026532281 or #pid=4242. Credentials are given with --auth or in
the environment variable ` + apiKeyVariable + `; they are never shown or stored.

On the screen ? lists the keys: G shows all that is known of the GPUs, H of the host and the
engine's processes, e of the engines.`,
		Example: `  llmtop                                   attach to the engines of this host
  llmtop http://127.0.0.1:8000             attach to this one
  llmtop :8000 gpu-7:8000                  attach to these two
  llmtop --log auto --canary 10s :8000     see its log too, and what a client feels
  llmtop --record night.llmrec :8000       and keep what is seen
  llmtop --ring 15m :8000                  or keep the past, for when something happens
  llmtop replay night.llmrec               look at it later
  llmtop demo                              try it without an engine
  llmtop demo --twin h100x8                and with GPUs, simulated`,
		Args:          cobra.ArbitraryArgs,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runLive(cmd, args, live)
		},
	}
	root.Flags().StringVar(&live.record, "record", "", "keep everything in this recording (a `file`; one that is there is gone on with)")
	live.ring.flags(root, ".")
	root.Flags().BoolVar(&live.once, "once", false, "print one frame as plain text and exit")
	live.attachOptions.flags(root)
	root.AddCommand(newRecordCommand(), newReplayCommand(), newInfoCommand(), newMarkCommand(), newDiagnoseCommand(), newCompareCommand(),
		newExportCommand(), newExtractCommand(), newRedactCommand(), newVerifyCommand(), newRepairCommand(), newProfileCommand(),
		newFindCommand(), newDoctorCommand(), newServeCommand(), newLoadCommand(), newDemoCommand(), newTwinCommand(), newDrillCommand(),
		newBurnCommand())
	return root
}

// version is what the build knows of itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 && v == "(devel)" {
			v = s.Value[:12]
		}
	}
	return v
}

// noTerminal is why the screen cannot be drawn; nil when it can.
func noTerminal() error {
	switch {
	case !term.IsTerminal(int(os.Stdout.Fd())):
		return errors.New("standard output is not a terminal")
	case !term.IsTerminal(int(os.Stdin.Fd())):
		return errors.New("standard input is not a terminal")
	}
	return nil
}

// checkDuration refuses a negative time, which would mean no end or the past.
func checkDuration(flag string, d time.Duration) error {
	if d < 0 {
		return usage(fmt.Errorf("--%s %s: must not be negative", flag, d), "")
	}
	return nil
}

func checkInterval(d time.Duration) error {
	if d < 100*time.Millisecond || d > time.Minute {
		return usage(fmt.Errorf("--interval %s: must be between 100ms and 1m", d), "")
	}
	return nil
}
