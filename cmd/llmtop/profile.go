package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"llmtop/probes"
	"llmtop/probes/record"
)

func newProfileCommand() *cobra.Command {
	var (
		at, output string
		list       bool
	)
	cmd := &cobra.Command{
		Use:   "profile FILE|DIR [--at TIME] -o OUT",
		Short: "Take a CPU profile out of a recording",
		Long: `Writes the CPU profile that was the newest at a moment, byte for byte as the engine gave it
(gzipped pprof), for go tool pprof. --list lists all that are there.

--at takes ` + momentForms + `; by default the end.`,
		Args: one("a recording: llmtop profile FILE -o OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := openRecording(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			if list {
				return listProfiles(cmd, r)
			}
			return runProfile(cmd, r, at, output)
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "the moment (`time`; default: the end)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "a new `file` (*.pb.gz); - or nothing: standard output, unless a terminal")
	cmd.Flags().BoolVar(&list, "list", false, "list the profiles instead")
	return cmd
}

func runProfile(cmd *cobra.Command, r *record.Reader, atText, output string) error {
	info := r.Info()
	at := info.End
	if atText != "" {
		var err error
		if at, err = parseMoment("at", atText, info.Start, info.End); err != nil {
			return err
		}
	}
	p, err := profileAt(cmd.Context(), r, at)
	if err != nil {
		return interruption(err, "")
	}
	if p == nil {
		return failed(fmt.Errorf("no CPU profile at or before %s", at.UTC().Format(time.RFC3339)), "llmtop profile --list says which there are")
	}
	err = toOutput(cmd, output, true, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(p.Raw))
		return err
	})
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", profileText(p))
	}
	return err
}

// profileAt is the newest profile that was complete at a moment, nil when there is none.
func profileAt(ctx context.Context, r *record.Reader, at time.Time) (*probes.Profile, error) {
	var last *probes.Profile
	for i := r.Index(at); i >= 0 && i < r.Len(); i-- {
		s, err := r.At(i)
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, record.ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p := s.Profile
		if p == nil || p == last || p.At.After(at) || s.At.After(at) {
			continue
		}
		if last = p; len(p.Raw) > 0 {
			return p, nil
		}
	}
	return nil, nil
}

func profileText(p *probes.Profile) string {
	return fmt.Sprintf("%s  %.3g s of %s, %s", p.At.UTC().Format(time.RFC3339), p.Seconds, oneLine(p.Endpoint), bytesText(int64(len(p.Raw))))
}

func listProfiles(cmd *cobra.Command, r *record.Reader) error {
	var last *probes.Profile
	n := 0
	for e, err := range r.Entries(cmd.Context(), 0, r.Len()) {
		if err != nil {
			return interruption(err, "that is not all")
		}
		if e.Sample == nil || e.Sample.Profile == nil || e.Sample.Profile == last {
			continue
		}
		same := last != nil && last.At.Equal(e.Sample.Profile.At) && last.Endpoint == e.Sample.Profile.Endpoint
		if last = e.Sample.Profile; same {
			continue
		}
		n++
		text := profileText(last)
		if len(last.Raw) == 0 {
			text += ": lost"
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), text); err != nil {
			return failed(err, "")
		}
	}
	if n == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "llmtop: there is no CPU profile in it")
	}
	return nil
}
