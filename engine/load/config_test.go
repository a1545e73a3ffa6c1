package load

import (
	"math"
	"testing"
	"time"
)

func TestBaseURL(t *testing.T) {
	for typed, want := range map[string]string{
		"http://h:8000":                       "http://h:8000",
		"http://h:8000/":                      "http://h:8000",
		"http://h:8000/v1":                    "http://h:8000",
		"http://h:8000/v1/":                   "http://h:8000",
		"http://h:8000/v1/chat/completions":   "http://h:8000",
		"http://h:8000/metrics":               "http://h:8000",
		"https://h/proxy/a/v1?x=1":            "https://h/proxy/a",
		"localhost:8000":                      "http://localhost:8000",
		"127.0.0.1:8000":                      "http://127.0.0.1:8000",
		"http://[::1]:8000/v1/completions":    "http://[::1]:8000",
		"http://user:secret@h:8000/v1/models": "http://h:8000",
	} {
		if got, err := baseURL(typed); err != nil || got != want {
			t.Errorf("baseURL(%q) = %q, %v, want %q", typed, got, err, want)
		}
	}
	for _, typed := range []string{"", "ftp://h", "http://", "http://h:\x01"} {
		if got, err := baseURL(typed); err == nil {
			t.Errorf("baseURL(%q) = %q, want an error", typed, got)
		}
	}
}

func TestConfigLimits(t *testing.T) {
	good := Config{URL: "http://h", Rate: 1}
	if c, err := good.complete(); err != nil || c.Timeout != 2*time.Minute || c.MaxInFlight != 1024 || c.Interval != time.Second {
		t.Fatalf("%+v, %v, want the defaults", c, err)
	}
	for name, spoil := range map[string]func(*Config){
		"no rate":        func(c *Config) { c.Rate = 0 },
		"negative rate":  func(c *Config) { c.Rate = -1 },
		"NaN rate":       func(c *Config) { c.Rate = math.NaN() },
		"endless rate":   func(c *Config) { c.Rate = math.Inf(1) },
		"duration":       func(c *Config) { c.Duration = -1 },
		"timeout":        func(c *Config) { c.Timeout = -1 },
		"interval":       func(c *Config) { c.Interval = -1 },
		"prompt tokens":  func(c *Config) { c.PromptTokens = -1 },
		"output tokens":  func(c *Config) { c.OutputTokens = 1 << 30 },
		"prefix":         func(c *Config) { c.SharedPrefixTokens = -5 },
		"prefixes":       func(c *Config) { c.SharedPrefixes = 1 << 20 },
		"spread":         func(c *Config) { c.PromptSpread = 1.1 },
		"NaN spread":     func(c *Config) { c.PromptSpread = math.NaN() },
		"chars":          func(c *Config) { c.CharsPerToken = math.NaN() },
		"no priority":    func(c *Config) { c.Priorities = []string{"0", ""} },
		"connections":    func(c *Config) { c.Connections = -1 },
		"in flight":      func(c *Config) { c.MaxInFlight = -1 },
		"many in flight": func(c *Config) { c.MaxInFlight = 1 << 20 },
	} {
		c := good
		spoil(&c)
		if _, err := c.complete(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
