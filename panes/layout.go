package panes

// The sizes a terminal falls back to when it does not tell its own.
const (
	fallbackWidth  = 80
	fallbackHeight = 24
)

// compose lays the panes out: exactly h rows of exactly w cells.
func compose(v *view, w, h int) []row {
	if w <= 0 {
		w = fallbackWidth
	}
	if h <= 0 {
		h = fallbackHeight
	}
	var rows []row
	switch {
	case w < 24 || h < 6:
		rows = verdictRows(v, w, h)
	case v.help:
		rows = helpScreen(v, w, h)
	case v.list != nil:
		rows = marksScreen(v, w, h)
	case v.sheet != noSheet && v.tick != nil:
		rows = sheetScreen(v, w, h)
	case v.Comparing != nil:
		rows = compareScreen(v, w, h)
	case v.tick == nil:
		rows = waitingScreen(v, w, h)
	case w < 66 || h < 18:
		rows = smallScreen(v, w, h)
	case w < 132 || h < 30:
		rows = oneColumn(v, w, h)
	default:
		rows = twoColumns(v, w, h)
	}
	rows = fill(rows, w, h)
	if v.prompt != nil {
		asked := fill(promptRows(v, w), w, 2)
		copy(rows[max(0, h-2):], asked[max(0, 2-h):])
	}
	return rows
}

// fill cuts or pads rows to h rows of w cells.
func fill(rows []row, w, h int) []row {
	out := make([]row, h)
	for i := range out {
		if i < len(rows) {
			out[i] = rows[i].fit(w)
		} else {
			out[i] = row{span{spaces(w), plain}}
		}
	}
	return out
}

// block is a pane's rows in a column and how many of them it can do without:
// blocks give up rows from the last priority on.
type block struct {
	rows     []row
	least    int // rows it shows at least, if it shows at all
	priority int // 0 is first served
}

// stack gives h rows to the blocks: first the least of each by priority, then
// the rest by priority. What does not fit is left out.
func stack(h int, blocks []block) []row {
	given := make([]int, len(blocks))
	share := func(want func(block) int) {
		for priority := 0; priority < 10; priority++ {
			for i, b := range blocks {
				if n := want(b) - given[i]; b.priority == priority && n > 0 {
					n = min(n, h)
					given[i] += n
					h -= n
				}
			}
		}
	}
	share(func(b block) int { return min(b.least, len(b.rows)) })
	share(func(b block) int { return len(b.rows) })
	var rows []row
	for i, b := range blocks {
		rows = append(rows, b.rows[:given[i]]...)
	}
	return rows
}

// smallScreen is a phone, a split pane: the verdict and the numbers that tell most.
func smallScreen(v *view, w, h int) []row {
	verdict := verdictRows(v, w, 3)
	return above(statusRow(v, w), w, h, stack(h-1, []block{
		{verdict, len(verdict), 0},
		{[]row{titleRow(v, w)}, 1, 2},
		{latencyRows(v, w), 3, 1},
		{loadRowsSmall(v, w), 2, 1},
		{troubledGPU(v, w), 1, 1},
		{stageRowsSmall(v, w), 1, 3},
		{adviceRows(v, w), 1, 2},
	}))
}

// oneColumn is the usual 80x24.
func oneColumn(v *view, w, h int) []row {
	gpu, canary := gpuRows(v, w, max(1, h/12)), canaryRows(v, w)
	engines := enginesRows(v, w, max(1, h/12))
	blocks := []block{
		{verdictRows(v, w, 1), 1, 0},
		{[]row{titleRow(v, w)}, 1, 0},
		{append([]row{latencyHead(v, w)}, latencyRows(v, w)...), 4, 1},
		{canary, len(canary), 1},
		{loadRowsCompact(v, w), 2, 1},
		{engines, len(engines), 2},
		{stageRows(v, w), 2, 2},
		{gpu, len(gpu), 3},
		{hostRows(v, w), 2, 3},
	}
	room := h - 2 // a heading and the status line
	for _, b := range blocks {
		room -= b.least
	}
	diagnosis := scrolled(v, w, diagnosisTitle(v), "", diagnosisRows(v, w, room), room)
	blocks = append(blocks, block{diagnosis, len(diagnosis), 2})
	return above(statusRow(v, w), w, h, stack(h-1, append(blocks, restBlocks(v, w)...)))
}

// twoColumns puts the numbers at the left, the diagnosis and its material at the right.
func twoColumns(v *view, w, h int) []row {
	leftWidth := min(max(w/2, 78), 110)
	rightWidth := w - leftWidth - 3
	body := h - 3
	numbers := numberBlocks(v, leftWidth)
	left := stack(body, append(numbers, chartBlocks(v, leftWidth, body-rowsIn(numbers))...))
	diagnosis := scrolled(v, rightWidth, diagnosisTitle(v), "", diagnosisRows(v, rightWidth, body-1), body-1)
	right := stack(body, append([]block{{diagnosis, len(diagnosis), 0}}, restBlocks(v, rightWidth)...))
	rows := []row{verdictRows(v, w, 1)[0], titleRow(v, w)}
	left, right = fill(left, leftWidth, body), fill(right, rightWidth, body)
	for i := range left {
		r := append(left[i], span{" │ ", faint})
		rows = append(rows, append(r, right[i]...))
	}
	return append(rows, statusRow(v, w))
}

// above keeps a row at the bottom.
func above(bottom row, w, h int, rows []row) []row {
	return append(fill(rows, w, h-1), bottom)
}

func rowsIn(blocks []block) int {
	n := 0
	for _, b := range blocks {
		n += len(b.rows)
	}
	return n
}

// headed puts a heading over rows; no rows, no heading.
func headed(w int, title string, rows []row) []row {
	if len(rows) == 0 {
		return nil
	}
	return append([]row{rule(w, title, "")}, rows...)
}

func numberBlocks(v *view, w int) []block {
	latency := append([]row{latencyHead(v, w)}, latencyRows(v, w)...)
	return []block{
		{headed(w, "latency", latency), 5, 0},
		{canaryRows(v, w), 1, 0},
		{headed(w, "load", loadRows(v, w)), 4, 0},
		{headed(w, "engines", enginesRows(v, w, 8)), 2, 1},
		{headed(w, "stages", stageRows(v, w)), 3, 1},
		{headed(w, "GPU", gpuRows(v, w, 16)), 2, 1},
		{headed(w, "host", hostRows(v, w)), 3, 1},
	}
}

// restBlocks are shown where there is room for them.
func restBlocks(v *view, w int) []block {
	return []block{
		{headed(w, "events", eventRows(v, w)), 0, 5},
		{headed(w, "slowest in flight", requestRows(v, w)), 0, 6},
		{headed(w, "CPU profile", profileRows(v, w)), 0, 7},
		{headed(w, "probes", probeRows(v, w)), 0, 8},
	}
}
