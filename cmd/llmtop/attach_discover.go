package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"llmtop/panes"
	"llmtop/probes"
	"llmtop/probes/dialect"
	"llmtop/probes/discover"
	"llmtop/probes/host"
	"llmtop/probes/scrape"
)

// look searches this host for engines once.
func look(ctx context.Context, r reachOptions, budget time.Duration) discover.Report {
	return discover.Find(ctx, discover.Options{
		Listeners: func(ctx context.Context) []probes.Listener { return host.Listeners(ctx, "/", discover.Promising) },
		Recognise: recognise,
		Access:    r.found,
		Spared:    r.spared,
		Budget:    budget,
	})
}

// ready reads how engines are reached and, when none was named, looks for some; the screen
// gets told what was found. It warns of what is unsafe.
func (o *attachOptions) ready(ctx context.Context, warn io.Writer, budget time.Duration, frame *panes.Frame) error {
	if err := o.reaching.ready(warn); err != nil {
		return err
	}
	if frame != nil {
		frame.Message = o.reaching.note()
	}
	if len(o.urls) > 0 {
		return nil
	}
	seen := look(ctx, o.reaching, budget)
	if o.seen = &seen; frame != nil {
		frame.Waiting, frame.Title = waitingFor(seen), titleFor(seen)
	}
	return nil
}

// titleFor names the engines that were found.
func titleFor(r discover.Report) string {
	var urls []string
	for _, f := range r.Attachable() {
		if len(urls) < mostAttached {
			urls = append(urls, f.Endpoint.String())
		}
	}
	return strings.Join(urls, " ")
}

// recognise says which engine's a metrics page is, and of which model.
func recognise(p *probes.Page) *probes.Engine {
	s, _ := scrape.NewParser(0).Parse(p.Body)
	return dialect.Decode(s)
}

// found is the access to an engine that was found, not named: it gets credentials only when
// it asks for them, and each time only if its process is still the one that was found, an
// engine's by its command line, and belongs to root or to this user.
func (o *reachOptions) found(f discover.Found) probes.Access {
	access := o.access
	access.When, access.Peer = trusted(f, os.Geteuid()), peer(f, os.Geteuid())
	return access
}

// peer says whose a Unix socket may be at which an engine was found. Its path comes from a
// table of the kernel's into which any user can write lines: names are in it as they are.
func peer(f discover.Found, me int) func(uid int) bool {
	return func(uid int) bool { return uid >= 0 && (uid == 0 || uid == me || uid == f.UID) }
}

func trusted(f discover.Found, me int) func() bool {
	process, ok := host.Meet("/", f.PID)
	ours := func(uid int) bool { return uid == 0 || uid == me }
	if !ok || !f.ByCommand || f.PID <= 0 || !ours(f.UID) || !ours(process.Owner()) || !discover.Promising(process.Argv()) {
		return func() bool { return false }
	}
	return process.Alive
}

// searchEvery is how often engines are looked for while none is there, and how often it is
// checked that those attached to are still there; missedEvery, how often one is looked for
// that ended, or that is starting, while there are others. A search costs some tens of milliseconds of CPU.
const (
	searchEvery = 2 * time.Second
	missedEvery = 10 * time.Second
	partialMost = 5 // looks in a row that time may cut short: an engine that hangs makes all such
)

// search is the probe that looks for engines on this host. While there is none to attach
// to it says why; when one that was attached to has ended and others appeared, it attaches
// to them and says so.
type search struct {
	o    attachOptions
	to   *attached
	look func(context.Context) discover.Report
	next time.Time
	seen discover.Report
	left int // looks that may still follow one that time cut short
}

func newSearch(o attachOptions, to *attached) *search {
	s := &search{o: o, to: to, left: partialMost, look: func(ctx context.Context) discover.Report { return look(ctx, o.reaching, time.Second) }}
	if o.seen != nil {
		s.seen, s.next = *o.seen, time.Now().Add(searchEvery)
	}
	return s
}

// first are the engines that were found before the collection began.
func (s *search) first() []*target { return s.news(s.seen) }

// Name begins as that of the probes of metrics does: what it says is why there are none.
func (s *search) Name() string { return "scrape search" }

// Read looks for engines when there is a reason to.
func (s *search) Read(ctx context.Context) (probes.Section, error) {
	some := len(s.to.all()) > 0
	again := s.seen.Partial && s.left > 0 // on a busy host the first look does not see all
	if some && !again && !s.seen.Starting() && !slices.ContainsFunc(s.to.all(), (*target).ended) {
		return nil, nil
	}
	if now := time.Now(); !now.Before(s.next) {
		if s.seen = s.look(ctx); s.seen.Partial && s.left > 0 {
			s.left--
		}
		if s.next = time.Now().Add(searchEvery); some && !again {
			s.next = time.Now().Add(missedEvery)
		}
	}
	news := s.news(s.seen)
	for _, t := range news {
		s.to.add(s.o, t)
	}
	if len(s.to.all()) == 0 {
		return nil, errors.New(nothing(s.seen))
	}
	if gone := s.gone(); len(gone) > 0 && len(news) > 0 {
		return nil, fmt.Errorf("%s ended; now attached to %s", names(gone), names(news))
	}
	return nil, nil
}

// gone are the engines whose process has ended and whose place no other has taken.
func (s *search) gone() []*target {
	var gone []*target
	for _, t := range s.to.all() {
		if t.ended() && t.process() == 0 {
			gone = append(gone, t)
		}
	}
	return gone
}

// news are the engines of a report that are not attached to yet, as many as may be. Of
// those attached to, a process that took an ended one's place is noted.
func (s *search) news(r discover.Report) []*target {
	known := map[string]*target{}
	for _, t := range s.to.all() {
		known[key(t.url)] = t
	}
	var out []*target
	for _, f := range r.Attachable() {
		url := f.Endpoint.String()
		if t := known[key(url)]; t != nil {
			if t.ended() {
				t.seen.Store(sight(f))
			}
			continue
		}
		if len(known) >= mostAttached {
			continue
		}
		t := &target{url: url, title: f.Title}
		t.seen.Store(sight(f))
		t.access = s.o.reaching.access
		t.access.When = func() bool { return t.seen.Load().trust() }
		t.access.Peer = func(uid int) bool { return t.seen.Load().peer(uid) }
		known[key(url)] = t
		out = append(out, t)
	}
	return out
}

func sight(f discover.Found) *sighting {
	s := &sighting{pid: f.PID, page: f.Endpoint.Page(), trust: trusted(f, os.Geteuid()), peer: peer(f, os.Geteuid())}
	s.process, _ = host.Meet("/", f.PID)
	return s
}

// key is an address without its page. 127.0.0.1 and ::1 may be two engines'.
func key(url string) string {
	e, err := probes.ParseEndpoint(url)
	if err != nil {
		return url
	}
	return e.WithPage(probes.DefaultPage).String()
}

func names(list []*target) string {
	var out []string
	for _, t := range list {
		out = append(out, strings.TrimSpace(t.title+" on "+t.url))
	}
	return strings.Join(out, ", ")
}

// nothing says in one line that there is no engine to attach to, and why.
func nothing(r discover.Report) string {
	why := reasons(r)
	if len(why) == 0 {
		return fmt.Sprintf("no engine found on this host (%d ports asked); name one: llmtop http://HOST:PORT", r.Asked)
	}
	text := why[0]
	if len(why) > 1 {
		text += fmt.Sprintf("; and %d more, see llmtop find", len(why)-1)
	}
	return text
}

// reasons are why the engines that cannot be read cannot.
func reasons(r discover.Report) []string {
	var out []string
	for _, f := range r.Unreadable() {
		out = append(out, f.Why())
	}
	return out
}

// waitingFor is what the screen shows until the first sample: what was found, what cannot
// be read and why, a line each.
func waitingFor(r discover.Report) string {
	var lines []string
	switch n := len(r.Attachable()); {
	case n == 0 && len(r.Engines) == 0:
		lines = append(lines, "no engine found on this host", "still looking; or name one: llmtop http://HOST:PORT")
	case n == 0:
		lines = append(lines, "no engine that can be read on this host", "still looking; or name one: llmtop http://HOST:PORT")
	case n == 1:
		lines = append(lines, "waiting for the first sample")
	default:
		lines = append(lines, fmt.Sprintf("waiting for the first sample of %d engines", n))
	}
	for i, f := range r.Attachable() {
		if i == mostAttached {
			lines = append(lines, fmt.Sprintf("left out: %d more, since at most %d are attached to", len(r.Attachable())-i, mostAttached))
			break
		}
		lines = append(lines, strings.TrimSpace(f.Title+" "+f.Model)+" on "+f.Endpoint.String())
	}
	return strings.Join(append(lines, reasons(r)...), "\n")
}
