package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"llmtop/probes"
)

// Shapes of texts that say nothing of whose they are.
var (
	cpuListShape      = regexp.MustCompile(`^[0-9,-]{1,400}$`)
	diskShape         = regexp.MustCompile(`^(?:[shv]d[a-z]{1,3}|xvd[a-z]|nvme\d{1,3}n\d{1,3}|mmcblk\d|md\d{1,3}|dm-\d{1,3})$`)
	nicShape          = regexp.MustCompile(`^(?:lo|e(?:th|n[ops]|np)[a-z0-9]{1,12}|bond\d{1,2}|ib[a-z0-9]{1,8}|mlx\d_\d{1,2}(?::\d)?)$`)
	pciShape          = regexp.MustCompile(`^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$`)
	architectureShape = regexp.MustCompile(`^(?:kepler|maxwell|pascal|volta|turing|ampere|ada|hopper|blackwell|rubin|t23x|gfx[0-9a-f]{3,5}|cdna\d?|rdna\d?)$`)
	migShape          = regexp.MustCompile(`^\d{1,2}(?:c\.\d{1,2})?g\.\d{1,4}gb(?:\+[a-z.]{1,8})?$`)
	linkShape         = regexp.MustCompile(`^(?:NV\d{1,2}|PIX|PXB|PHB|NODE|SYS|XGMI)$`)
	versionShape      = regexp.MustCompile(`^(?:go|v)?\d{1,5}(?:\.\d{1,5}){0,3}(?:-\d+\.\d{14}-[0-9a-f]{12})?(?:\+dirty)?$|^[0-9a-f]{12}$|^\(devel\)$|^unknown$`)
	numberShape       = regexp.MustCompile(`^[+-]?(?:\d{1,18}(?:\.\d{0,18})?(?:[eE][+-]?\d{1,3})?|Inf)$`)
	gpuWord           = regexp.MustCompile(`^(?:NVIDIA|AMD|Tesla|GeForce|Quadro|RTX|GTX|Graphics|Device|Instinct|PCIe|HBM\dE?|NVL|SXM\d?|Ti|SUPER|Laptop|GPU|MIG|[A-Z]{0,2}\d{1,4}[A-Z]{0,2}|\d{1,3}GB|\dg\.\d{1,3}gb)$`)
)

func keepShape(shape *regexp.Regexp) func(*redactor, string) bool {
	return func(_ *redactor, s string) bool { return shape.MatchString(s) }
}

// rankShape is a place in an engine's parallelism: "dp0", "tp1", "dp0 tp1", "scheduler".
var rankShape = regexp.MustCompile(`^(?:(?:dp|tp|pp|ep)[0-9]{1,4}(?: |$))+$|^(?:scheduler|detokenizer|server|engine|worker|frontend)$`)

// isGPUModel reports a name made of a vendor's product words alone.
func isGPUModel(s string) bool {
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' }) {
		if !gpuWord.MatchString(word) {
			return false
		}
	}
	return true
}

// isSystem reports GOOS and GOARCH, as the manifest has them.
func isSystem(s string) bool {
	known := keepWords("linux", "darwin", "freebsd", "windows", "amd64", "arm64", "riscv64", "ppc64le", "s390x", "loong64")
	for _, word := range strings.Fields(s) {
		if !known(nil, word) {
			return false
		}
	}
	return true
}

// countedTexts bounds the texts of one kind that are remembered.
const countedTexts = 50_000

// count counts a text; each once, as long as there are not too many.
func (x *redactor) count(what, done, s string) {
	kind := done + " " + what
	if x.names[kind] == nil {
		x.names[kind] = map[string]string{}
	}
	if _, seen := x.names[kind][s]; seen {
		return
	}
	if len(x.names[kind]) < countedTexts {
		x.names[kind][s] = ""
	}
	x.counts[Tally{What: what, Done: done}]++
}

func (x *redactor) digest(s string, digits int) string {
	m := hmac.New(sha256.New, x.key)
	m.Write([]byte(s))
	return hex.EncodeToString(m.Sum(nil))[:digits]
}

// hashed is eight digits that stand for s.
func (x *redactor) hashed(s string) string {
	if x.options.Drop {
		return dropped
	}
	return x.digest(s, 8)
}

// long is for request ids, of which a day has so many that eight digits would not tell them apart.
func (x *redactor) long(s string) string {
	if x.options.Drop {
		return dropped
	}
	return x.digest(s, 16)
}

// identity is a name that must stay apart from others of its kind, or readings of two
// engines or devices would run together: a hash, or with Drop a number.
func (x *redactor) identity(kind, s string) string {
	if !x.options.Drop {
		return x.digest(s, 8)
	}
	if x.names[kind] == nil {
		x.names[kind] = map[string]string{}
	}
	number, ok := x.names[kind][s]
	if !ok && len(x.names[kind]) >= countedTexts {
		return "many"
	}
	if !ok {
		number = strconv.Itoa(len(x.names[kind]) + 1)
		x.names[kind][s] = number
	}
	return number
}

// uuid stands for a device's UUID.
func (x *redactor) uuid(s string) string { return "GPU-" + x.identity("gpu", s) }

// paths of endpoints that are the same everywhere.
var commonPaths = keepWords("", "/", "/metrics", "/prometheus/metrics", "/v1/metrics", "/debug/requests", "/debug/pprof/profile")

// namespaceShape names a network namespace in an endpoint; its number tells two engines apart.
var namespaceShape = regexp.MustCompile(`^(?:netns|pid)=[0-9]{1,20}$`)

// endpoint keeps scheme, port, loopback, well-known paths and the network namespace of a URL.
func (x *redactor) endpoint(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "http://host-" + x.identity("endpoint", s)
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		host = "host-" + x.identity("endpoint", host)
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		host = net.JoinHostPort(host, strconv.FormatUint(port, 10))
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	path := u.Path
	if !commonPaths(x, path) {
		path = "/" + x.identity("path", path)
	}
	if namespaceShape.MatchString(u.Fragment) {
		path += "#" + u.Fragment
	}
	return u.Scheme + "://" + host + path
}

// probeNames are those of probes that ask no endpoint; the others are followed by it.
var probeNames = []string{"gpu", "amdgpu", "host", "process", "neighbours", "sockets", "log auto"}

func (x *redactor) probe(s string) string {
	kind, of, _ := strings.Cut(s, " ")
	switch {
	case of == "":
	case keepWords("scrape", "requests", "profile", "canary", "config", "dcgm")(x, kind):
		return kind + " " + x.endpoint(of)
	case keepWords("log", "otlp")(x, kind):
		return kind + " " + x.identity(kind, of)
	}
	return x.hashed(s)
}

// seriesName and labelName are names in the syntax of metrics.
func (x *redactor) seriesName(s string) string { return "redacted_" + x.identity("series", s) }
func (x *redactor) labelName(s string) string  { return "label_" + x.identity("label", s) }

// series redacts the identity of a series. Endings that say what a series is within its
// family stay, so that a histogram stays one.
func (x *redactor) series(s probes.Series) probes.Series {
	ending := strings.TrimPrefix(s.Name, s.Family)
	if ending == s.Name || !keepWords("", "_bucket", "_sum", "_count", "_total", "_created")(x, ending) {
		s.Name = x.metric(s.Name)
		s.Family = x.metric(s.Family)
	} else {
		s.Family = x.metric(s.Family)
		s.Name = s.Family + ending
	}
	labels := make([]probes.Label, len(s.Labels))
	for i, l := range s.Labels {
		labels[i] = probes.Label{Name: x.apply(labelRule, l.Name), Value: x.value(valueRule(l.Name), l.Value)}
	}
	slices.SortFunc(labels, func(a, b probes.Label) int { return strings.Compare(a.Name, b.Name) })
	s.Labels = labels
	return s
}

func (x *redactor) metric(name string) string {
	if name == "" {
		return ""
	}
	return x.apply(seriesRule, name)
}

func (x *redactor) value(r rule, s string) string {
	if s == "" {
		return ""
	}
	return x.apply(r, s)
}

// String is one line of the summary.
func (t Tally) String() string { return fmt.Sprintf("%-8s %s: %d", t.Done, t.What, t.Count) }
