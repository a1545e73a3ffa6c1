package knob

import (
	"math"
	"strings"
	"testing"
)

func TestParseChange(t *testing.T) {
	for text, want := range map[string]string{
		"kv_pool ×0.3":             "kv_pool ×0.3",
		"kv_pool x0.3":             "kv_pool ×0.3",
		"  replica1  kernel × 0.5": "replica1 kernel ×0.5",
		"gpu0 power_cap 400W":      "gpu0 power_cap 400W",
		"power_cap 0.4kW":          "power_cap 400W",
		"gpu12 clock_lock 1.2GHz":  "gpu12 clock_lock 1200MHz",
		"cpu_quota 4 cores":        "cpu_quota 4cores",
		"log_line 200us":           "log_line 0.2ms",
		"disk 1s":                  "disk 1000ms",
		"inlet 35C":                "inlet 35C",
		"guided 30%":               "guided 0.3",
		"giant_prompts 0.05":       "giant_prompts 0.05",
		"graphs off":               "graphs off",
		"gpu3 gpu_lost on":         "gpu3 gpu_lost on",
		"gpu_lost on":              "gpu_lost on",
		"gpu1 xid 79":              "gpu1 xid 79",
		"restart":                  "restart",
		"replica0 restart":         "replica0 restart",
		"upgrade ×1.4":             "upgrade 1.4",
		"kv_pool reset":            "kv_pool reset",
		"rate ×0":                  "rate ×0",
	} {
		c, err := ParseChange(text)
		if err != nil || c.String() != want {
			t.Errorf("%s: got %q, %v, want %q", text, c, err, want)
			continue
		}
		again, err := ParseChange(c.String())
		if err != nil || again.Knob != c.Knob || again.Target != c.Target || again.Value != c.Value && !c.Reset || again.Reset != c.Reset {
			t.Errorf("%s: read again it is %v, %v", text, again, err)
		}
	}
}

func TestParseChangeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "there is no knob: write",
		"kv_pol ×0.3":              "did you mean kv_pool?",
		"frobnicate on":            "llmtop twin list knobs",
		"kv_pool":                  "kv_pool to what? it takes ×0.001 to ×100",
		"kv_pool 0.3":              `write ×0.3, not "0.3"`,
		"kv_pool ×-1":              "it takes",
		"kv_pool ×nan":             `not "×nan"`,
		"kv_pool ×1e999":           `not "×1e999"`,
		"kv_pool ×0.3W":            "has no unit",
		"gpu0 kv_pool ×0.3":        "kv_pool is of a replica, not of a gpu",
		"gpu0 rate ×2":             "rate is of the whole service",
		"replica0":                 "what of replica0 is to change?",
		"gpux power_cap 400W":      `"gpux" is no gpu: write gpu0`,
		"gpu0 power_cap 400":       `power_cap is in W: write 400W`,
		"gpu0 power_cap 400MB":     `power_cap is in W, not in "MB": write for example 400W`,
		"gpu0 power_cap ×2":        "is not a factor",
		"gpu0 power_cap 9000W":     "takes 1W to 2000W",
		"graphs maybe":             "takes on or off",
		"max_num_seqs 1.5":         "whole numbers",
		"max_num_seqs 50%":         "has no unit",
		"kv_pool ×0.3 for 30s":     "for stands before the knob",
		"kv_pool ×0.3 ×0.4":        `write ×0.3, not "×0.3×0.4"`,
		"restart now":              "takes no value",
		"restart reset":            "nothing to reset",
		"xid":                      "xid to what? it takes 1 to 999",
		"xid ×79":                  "is not a factor",
		"giant_prompts 1.5":        "takes 0 to 1",
		"\xff\xfe ×2":              "there is no knob",
		"network 10Mbit":           "is in MB/s",
		"gpu99999999999 ecc 1":     "is no gpu",
		strings.Repeat("a", 10000): "there is no knob",
	} {
		c, err := ParseChange(text)
		if want == "it takes" {
			want = "kv_pool takes ×0.001 to ×100"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, %v, want an error with %q", text, c, err, want)
		} else if strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("%.40q: the error is no clear line: %v", text, err)
		}
	}
}

func TestFits(t *testing.T) {
	for text, fits := range map[string]bool{"gpu7 xid 79": true, "gpu8 xid 79": false, "replica1 restart": true, "replica2 restart": false, "restart": true, "rate ×2": true} {
		c, err := ParseChange(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Fits(8, 2); (err == nil) != fits {
			t.Errorf("%s: got %v", text, err)
		}
		if err := NewBoard(8, 2).Apply(c); (err == nil) != fits {
			t.Errorf("%s: the board says %v", text, err)
		}
	}
}

// Every knob says what it takes, and takes it.
func TestTable(t *testing.T) {
	for id := range Table {
		k := &Table[id]
		if k.Doc == "" || k.Name == "" || k.Max < k.Min {
			t.Errorf("%d: %+v is not whole", id, k)
		}
		values := []string{k.text(k.Min), k.text(k.Max)}
		switch {
		case k.Kind == Switch:
			values = []string{"on", "off"}
		case k.bare():
			values = []string{""}
		}
		for _, v := range values {
			if c, err := ParseChange(k.Name + " " + v); err != nil || c.Knob != ID(id) {
				t.Errorf("%s %s: %v", k.Name, v, err)
			}
		}
		if _, ok := units[k.Unit]; k.Unit != "" && !ok {
			t.Errorf("%s: nothing is known of the unit %s", k.Name, k.Unit)
		}
	}
}

// Zero has no sign: what is divided by it must not come out as less than nothing.
func TestZeroHasNoSign(t *testing.T) {
	c, err := ParseChange("tokenizer ×-0")
	if err != nil || math.Signbit(c.Value) || c.String() != "tokenizer ×0" {
		t.Errorf("got %v, %v", c, err)
	}
}

func FuzzParseChange(f *testing.F) {
	f.Add("gpu0 power_cap 400W")
	f.Add("kv_pool ×0.3")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseChange(text)
		if err != nil {
			return
		}
		if again, err := ParseChange(c.String()); err != nil || again.Target != c.Target || again.Knob != c.Knob {
			t.Errorf("%q became %q, which is %v, %v", text, c, again, err)
		}
	})
}
