package panes

import (
	"strings"

	"llmtop/probes"
)

// absence is a reading that is missing.
type absence struct {
	name string
	why  probes.Absence
}

// absences say what is missing, a line a reason.
func absences(all []absence, w int) []row {
	names := map[probes.Absence][]string{}
	for _, a := range all {
		names[a.why] = append(names[a.why], a.name)
	}
	var rows []row
	for why := probes.NotSeen; why <= probes.Stale; why++ {
		if len(names[why]) > 0 {
			for _, r := range labelled(w, why.String(), strings.Join(names[why], ", ")) {
				for i := range r {
					r[i].tone = faint
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// deviceAbsences are the readings that a device did not give.
func deviceAbsences(d *probes.GPUDevice) (out []absence) {
	for _, r := range probes.GPUReadings {
		if o := r.Of(d); !o.Seen() {
			out = append(out, absence{r.Name, o.Why()})
		}
	}
	if !d.ThrottleBits.Seen() {
		out = append(out, absence{"throttle_bits", d.ThrottleBits.Why()})
	}
	if !d.XidTotal.Seen() {
		out = append(out, absence{"xid_total", d.XidTotal.Why()})
	}
	return out
}
