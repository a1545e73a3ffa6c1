package panes

import (
	"strings"
	"testing"
	"unicode/utf8"

	"llmtop/probes"
	"llmtop/rules"
)

var hostile = map[string]string{
	"tags":      "[red]x[-:-:-][\"region\"]",
	"escape":    "a\x1b[2J\x1b]0;owned\x07b\x9b31m",
	"newlines":  "one\r\ntwo\tthree\x00",
	"wide":      "模型名字很长很长很长",
	"combining": "e\u0301" + strings.Repeat("\u0300", 500) + "x",
	"rtl":       "abc\u202egnp.exe\u202c שלום مرحبا",
	"joined":    "👩\u200d👩\u200d👧\u200d👦🇩🇪👍🏽❤\ufe0f",
	"invalid":   "\xff\xfe\xc3(",
	"zero":      "\u200b\u200b\ufeff\u2060",
	"long":      strings.Repeat("long ", 5000),
	"blank":     "",
}

// hostileFrame puts the text wherever text from outside is shown.
func hostileFrame(text string) Frame {
	f := firingFrame()
	at := f.Ticks[history-1].Point.At
	d := backlog(100)
	d.Reason, d.Baseline = text, text
	d.Symptoms = append(d.Symptoms, rules.Symptom{Signal: text, From: 1, To: 2, Unit: text})
	d.Attribution = append(d.Attribution, rules.Attribution{Of: "ttft", Stage: text, Share: 0.2})
	c := &d.Causes[0]
	c.ID, c.Title, c.Confidence = text, text, text
	evidence := rules.Evidence{Clause: text, Says: text, Values: []rules.Value{{Signal: text, Unit: text}}}
	c.Evidence, c.Against = append(c.Evidence, evidence), append(c.Against, evidence)
	c.Unseen, c.Effects = []string{text}, []string{text}
	c.Next = append(c.Next, rules.Next{Step: text, Command: text, Price: text})
	d.Risks = []rules.Finding{{ID: text, Text: text}}
	d.Notes = d.Risks
	tick := tickOf(sample(history-1), busy(history-1, 14), d)
	tick.Point.Process.Name = text
	tick.Point.GPU = devices(at)
	tick.Point.GPU.Devices[0].Name, tick.Point.GPU.Devices[1].Err = text, text
	full := fullHost(history - 1)
	tick.Point.GPU.Devices = append(tick.Point.GPU.Devices, full.GPU.Devices...)
	for i := range tick.Point.GPU.Devices {
		d := &tick.Point.GPU.Devices[i]
		d.Source, d.PCIAddress, d.Architecture, d.Instance, d.Virtual, d.CPUs, d.ActivityFrom = text, text, text, text, text, text, text
	}
	tick.Point.GPU.KernelLog = text
	tick.Point.GPU.CUDA, tick.Point.GPU.Links, tick.Point.GPU.Processes = text, []probes.GPULink{{Kind: text}}, []probes.GPUProcess{{GPU: "GPU-0", Name: text}}
	tick.Point.Host = full.Host
	h := tick.Point.Host
	h.Kernel, h.Virtual, h.NUMANodes[0].CPUs, h.Disks[0].Name, h.Filesystems[0].Mount, h.NICs[0].Name, h.NICs[0].Kind = text, text, text, text, text, text, text
	tick.Point.Process.CgroupPath, tick.Point.Process.Members, tick.Point.Process.BusyThreads = text, []probes.Member{{Name: text, Rank: text, AllowedCPUs: text}}, []probes.Thread{{Name: text, State: text}}
	tick.Point.Sockets = &probes.Sockets{Full: []probes.Connection{{Endpoint: text, Peer: text}}}
	tick.Point.Neighbours = &probes.Neighbours{At: at, List: []probes.Neighbour{{Name: text, User: text, CPUCores: probes.Some(1.0)}}}
	tick.Point.Probes[0].Name, tick.Point.Probes[0].Err = text, text
	tick.Point.Events = []probes.Event{{At: at, Kind: text, Text: text}}
	tick.Point.Requests = []*probes.Requests{{At: at, Running: []*probes.Request{{ID: text, State: text, Arrived: at}}}}
	tick.Point.Facts = &probes.ProfileFacts{At: at, Samples: 1, Share: map[string]float64{text: 1}, Top: []probes.FrameShare{{Function: text, Stage: text}}}
	f.Ticks[history-1] = tick
	f.Title, f.Recording, f.Message = text, text, text
	return f
}

// TestHostileTextKeepsTheLayout looks at every row for width and for anything a
// terminal would act on.
func TestHostileTextKeepsTheLayout(t *testing.T) {
	for name, text := range hostile {
		for _, size := range [...]struct{ w, h int }{{20, 4}, {40, 12}, {80, 24}, {160, 48}, {200, 60}} {
			f := hostileFrame(text)
			views := []*view{newView(f, 0, false), newView(Frame{Waiting: text, Title: text}, 0, false)}
			for lies := range sheets {
				v := newView(f, 0, false)
				v.sheet = lies
				views = append(views, v)
				v = newView(f, 30, false)
				v.sheet = lies
				views = append(views, v)
			}
			for _, v := range views {
				for _, r := range compose(v, size.w, size.h) {
					line := r.text()
					if got := width(line); got != size.w {
						t.Errorf("%s at %v: %d cells: %q", name, size, got, line)
					}
					if bad := strings.IndexFunc(line, unsafe); bad >= 0 {
						t.Errorf("%s at %v: %q reaches the terminal", name, size, line[bad:min(bad+4, len(line))])
					}
				}
			}
		}
	}
}

func unsafe(r rune) bool {
	return r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff
}

// TestTagsAreText reads a tview tag from the screen as it was written.
func TestTagsAreText(t *testing.T) {
	f := normalFrame()
	f.Title = hostile["tags"]
	if p := start(t, 80, 24, &recorder{}).show(f); !strings.Contains(p, hostile["tags"]) {
		t.Errorf("the title lost its brackets:\n%s", p)
	}
}

// TestWideCellsStayAligned holds the column line of a screen whose title and
// texts are two cells a character.
func TestWideCellsStayAligned(t *testing.T) {
	r := start(t, 160, 48, &recorder{})
	r.show(hostileFrame(hostile["wide"]))
	for y := 2; y < 47; y++ {
		if got, _, _ := r.screen.Get(81, y); got != "│" {
			t.Errorf("row %d: %q where the column line should be", y, got)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, text := range hostile {
		f.Add(text, 10)
	}
	f.Fuzz(func(t *testing.T, text string, w int) {
		w = min(max(w, 0), 300)
		once := clean(text)
		if i := strings.IndexFunc(once, unsafe); i >= 0 {
			t.Errorf("unsafe: %q", once)
		}
		if again := clean(once); again != once {
			t.Errorf("not settled: %q then %q", once, again)
		}
		if got := (row{}.add(plain, text).add(bad, text)).fit(w).width(); got != w {
			t.Errorf("%q fitted to %d is %d wide", text, w, got)
		}
		if plain := toASCII(once); !ascii(plain) || len(plain) != width(once) {
			t.Errorf("%q in ASCII is %q", once, plain)
		}
	})
}
