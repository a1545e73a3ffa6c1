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
// the odd ones come first when there is no room for all.
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
		sort.SliceStable(shown, func(i, j int) bool { return oddity(shown[i]) > oddity(shown[j]) })
		shown = shown[:most]
	}
	var rows []row
	for _, i := range shown {
		rows = append(rows, engineRow(v, w, i, len(shown) < len(all)))
	}
	return rows
}

// oddity is how far an instance is from its peers; a silent one comes first.
func oddity(i *rules.Instance) float64 {
	if i.Silent > 0 {
		return 1e9
	}
	return max(i.TTFTOfPeers.Or(1), i.TPOTOfPeers.Or(1), i.QueueOfPeers.Or(1))
}

// different is the factor from which an instance is marked as different from its peers:
// half as much again, as of any signal that counts as up.
const different = 1.5

func engineRow(v *view, w int, i *rules.Instance, oneOfMany bool) row {
	e, t := i.Engine, plain
	name := instanceName(e)
	if oneOfMany {
		name += fmt.Sprintf(" of %d", len(v.tick.Instances))
	}
	nameWidth := min(28, max(14, w/4))
	r := row{}.add(plain, " ").left(strong, nameWidth, cut(name, nameWidth-1))
	if i.Silent > 0 {
		return r.add(bad, "silent for "+ago(i.Silent))
	}
	peers := func(of probes.Opt[float64]) tone {
		if of.Or(1) >= different {
			return warn
		}
		return t
	}
	r = r.add(faint, "run").right(t, 5, show(e.Running, count)).
		add(faint, " wait").right(peers(i.QueueOfPeers), 5, show(e.Waiting, count)).
		add(faint, " KV").right(t, 6, show(e.KVUsage, percent))
	if w >= 100 || w < 78 && w >= 60 {
		r = r.add(faint, " tok/s").right(t, 6, show(i.TokensOut, count))
	}
	if w >= 78 {
		r = r.add(faint, " TTFT").right(peers(i.TTFTOfPeers), 8, show(i.TTFT, seconds)).
			add(faint, " TPOT").right(peers(i.TPOTOfPeers), 8, show(i.TPOT, seconds))
	}
	if factor := oddity(i); factor >= different {
		r = r.add(warn, " ×"+digits(factor))
	}
	return r
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
