package panes

import (
	"fmt"
	"net/url"
	"sort"
	"strings"

	"llmtop/probes"
	"llmtop/rules"
)

// enginesRows is a line for each engine where there are several, at most most lines;
// the odd ones come first when there is no room for all, and the last line says how many
// more there are.
func enginesRows(v *view, w, most int) []row {
	all := v.tick.Instances
	if len(all) < 2 || most < 1 {
		return nil
	}
	shown := make([]*rules.Instance, 0, len(all))
	for i := range all {
		shown = append(shown, &all[i])
	}
	if len(shown) > most {
		sort.SliceStable(shown, func(i, j int) bool {
			a, _ := oddity(shown[i])
			b, _ := oddity(shown[j])
			return a > b
		})
		shown = shown[:most]
	}
	var rows []row
	for i, instance := range shown {
		last := row{}
		if more := len(all) - len(shown); more > 0 && i == len(shown)-1 {
			last = last.add(faint, fmt.Sprintf(" +%d", more))
		}
		r := engineRow(w, instance)
		if odd := oddRow(instance); r.width()+odd.width()+last.width() <= w {
			r = append(r, odd...)
		}
		rows = append(rows, append(r, last...))
	}
	return rows
}

// oddity is how far an instance is from its peers, and in what; a silent one comes first.
func oddity(i *rules.Instance) (factor float64, in string) {
	if i.Silent > 0 {
		return 1e9, ""
	}
	factor, in = i.TTFTOfPeers.Or(1), "TTFT"
	if x := i.TPOTOfPeers.Or(1); x > factor {
		factor, in = x, "TPOT"
	}
	if x := i.QueueOfPeers.Or(1); x > factor {
		factor, in = x, "wait"
	}
	return factor, in
}

// different is the factor from which an instance is marked as different from its peers:
// half as much again, as of any signal that counts as up.
const different = 1.5

func engineRow(w int, i *rules.Instance) row {
	e, t := i.Engine, plain
	nameWidth := max(14, w/4)
	switch {
	case w >= 100:
		nameWidth = min(28, w/4)
	case w >= 78:
		nameWidth = 17 // ":30001 1 prefill", and all fits 80 columns
	}
	r := row{}.add(plain, " ").left(strong, nameWidth, cut(instanceName(e), nameWidth-1))
	if i.Silent > 0 {
		return r.add(bad, "silent for "+ago(i.Silent))
	}
	peers := func(of probes.Opt[float64]) tone {
		if of.Or(1) >= different {
			return warn
		}
		return t
	}
	r = r.add(faint, "run").right(t, 4, show(e.Running, count)).
		add(faint, " wait").right(peers(i.QueueOfPeers), 4, show(e.Waiting, count)).
		add(faint, " KV").right(t, 6, show(e.KVUsage, percent))
	if w >= 100 || w < 78 && w >= 60 {
		r = r.add(faint, " tok/s").right(t, 6, show(i.TokensOut, count))
	}
	if w >= 78 {
		r = r.add(faint, " TTFT").right(peers(i.TTFTOfPeers), 7, show(i.TTFT, seconds)).
			add(faint, " TPOT").right(peers(i.TPOTOfPeers), 7, show(i.TPOT, seconds))
	}
	return r
}

// oddRow says in what an instance is different from its peers, and by which factor.
func oddRow(i *rules.Instance) row {
	factor, in := oddity(i)
	if i.Silent > 0 || factor < different {
		return nil
	}
	return row{}.add(warn, " "+in+" ×"+digits(factor))
}

// instanceName is the port, or the host where there is none, the rank and the role.
func instanceName(e *probes.Engine) string {
	name := clean(e.Endpoint)
	if u, err := url.Parse(e.Endpoint); err == nil && u.Host != "" {
		name = clean(u.Host)
		if host := u.Hostname(); u.Port() != "" && (host == "127.0.0.1" || host == "localhost" || host == "::1") {
			name = ":" + u.Port()
		}
	}
	for _, more := range []string{e.Instance, string(e.Role)} {
		if more != "" {
			name += " " + clean(more)
		}
	}
	return name
}

// waitsText names the parts of the waiting requests that are not empty.
func waitsText(waits []probes.Wait) string {
	var parts []string
	for _, w := range waits {
		if w.Depth > 0 {
			parts = append(parts, clean(w.Name)+" "+count(w.Depth))
		}
	}
	return strings.Join(parts, ", ")
}
