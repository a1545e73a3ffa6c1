package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"llmtop/probes"
	"llmtop/probes/scrape"
)

// most is how late a tick may be.
const most = 50 * time.Millisecond

// watched is what was seen at one pace.
type watched struct {
	ticks, left int           // ticks that came, and that were left out
	late        time.Duration // the latest
	age         time.Duration // of the good engine's page, the oldest shown
	last        *probes.Sample
	never       bool // the good engine was not read at all
}

// watch collects from all servers for a while.
func watch(ctx context.Context, servers []server, pace, length time.Duration) (watched, error) {
	var scheduled []probes.Scheduled
	for _, s := range servers {
		scheduled = append(scheduled, probes.Scheduled{Probe: scrape.New(s.URL, scrape.Options{})})
	}
	c := probes.NewCollector(pace, scheduled...)
	defer c.Close()
	w := watched{never: true}
	var grid grid
	for began := time.Now(); time.Since(began) < length; {
		s, err := c.Next(ctx)
		if err != nil {
			return w, err
		}
		w.last = s
		if s.Seq == 1 {
			continue // comes as soon as there is something, on no grid
		}
		late, left := grid.at(s.Mono, pace)
		w.ticks, w.left, w.late = w.ticks+1, w.left+left, max(w.late, late)
		w.look(s, servers)
	}
	return w, nil
}

// look notes how old the good engine's page is.
func (w *watched) look(s *probes.Sample, servers []server) {
	for _, page := range s.Scrapes {
		if page.Endpoint == servers[0].URL {
			w.never = false
			w.age = max(w.age, s.At.Sub(page.At))
		}
	}
}

// grid is where the ticks of a collector are due: a lead of a quarter interval, at most
// 150 ms, then every interval.
type grid struct{ last time.Duration }

// at is how late a tick at mono is, and how many were left out before it.
func (g *grid) at(mono, pace time.Duration) (late time.Duration, left int) {
	ahead := min(150*time.Millisecond, pace/4)
	k := (mono - ahead) / pace
	late = mono - ahead - k*pace
	if g.last > 0 {
		left = int(k - g.last - 1)
	}
	g.last = k
	return late, max(0, left)
}

// judge makes rows of the pace and the good engine.
func (w watched) judge(pace time.Duration) []row {
	oldest := max(2*pace, 500*time.Millisecond)
	return []row{
		{fmt.Sprintf("ticks every %s, the latest", pace), fmt.Sprintf("at most %s late", most), fmt.Sprintf("%s late, of %d ticks", w.late.Round(100*time.Microsecond), w.ticks), w.late <= most && w.ticks > 0},
		{fmt.Sprintf("ticks every %s, left out", pace), "0", fmt.Sprint(w.left), w.left == 0},
		{fmt.Sprintf("age of the good page at %s", pace), fmt.Sprintf("at most %s", oldest), fmt.Sprint(w.age.Round(time.Millisecond)), w.age <= oldest && !w.never},
	}
}

// reasons are what the screen would say of each server in the end.
func (w watched) reasons(servers []server) []row {
	var rows []row
	for i, s := range servers {
		status := w.last.Probes[i]
		says := status.Err
		if since, pending := status.PendingSeconds.Get(); says == "" && pending {
			says = fmt.Sprintf("waiting for %.1f s", since)
		}
		wanted := "no error"
		if s.Reason {
			wanted = "a reason"
		}
		for _, page := range w.last.Scrapes {
			if page.Endpoint == s.URL && says == "" {
				says = fmt.Sprintf("%d series, %d bad lines", len(page.Values), page.Dropped)
			}
		}
		rows = append(rows, row{s.Name, wanted, strings.TrimPrefix(says, s.URL), (status.Err != "") == s.Reason && says != ""})
	}
	return rows
}
