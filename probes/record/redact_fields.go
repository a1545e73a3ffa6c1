package record

import "llmtop/probes"

// rule is what is done with a text. What it is called is said in the summary.
type rule struct {
	what string
	keep func(x *redactor, s string) bool // harmless as it is; nil: never
	hash func(x *redactor, s string) string
}

// dropped is what stands for a text of which only that it was there is kept.
const dropped = "[dropped]"

var (
	endpointRule = rule{"endpoints", nil, (*redactor).endpoint}
	freeText     = rule{"free texts (errors, events, notes)", nil, nil}
	ruleOfMarks  = rule{"texts of marks", func(x *redactor, _ string) bool { return x.options.KeepMarks }, nil}
)

// fieldRules decides on every text of a recording. TestEveryTextIsClassified holds it
// against the types; a text that is not listed is dropped.
var fieldRules = map[string]rule{
	"Event.Kind":       {"kinds of events", keepWords(probes.EventKinds...), (*redactor).hashed},
	"Event.Text":       freeText,
	"ProbeStatus.Name": {"names of probes", keepWords(probeNames...), (*redactor).probe},
	"ProbeStatus.Err":  freeText,

	"Scrape.Endpoint":   endpointRule,
	"Requests.Endpoint": endpointRule,
	"Profile.Endpoint":  endpointRule,

	"Request.ID":     {"request ids", nil, (*redactor).long},
	"Request.Class":  {"classes of requests", keepWords("realtime", "normal", "background"), (*redactor).hashed},
	"Request.State":  {"states of requests", keepWords(append(probes.StageNames[:], "finished")...), (*redactor).hashed},
	"Request.Finish": {"finish reasons", keepWords(finishWords...), (*redactor).hashed},

	"EngineConfig.Endpoint": endpointRule,
	"EngineConfig.Dialect":  {"dialects", keepWords(probes.Dialects...), (*redactor).hashed},
	"EngineConfig.Version":  {"versions of engines", keepShape(versionShape), (*redactor).hashed},
	"Fact.Name":             {"names of settings", keepWords(probes.FactNames...), (*redactor).hashed},
	"Fact.Value":            {"values of settings", keepShape(numberShape), (*redactor).hashed},
	"Fact.Source":           {"sources of settings", nil, nil},
	"Rank.Name":             {"ranks", keepShape(rankShape), (*redactor).hashed},
	"EngineLog.Source":      {"names of logs", nil, nil},
	"EngineLog.Dialect":     {"dialects", keepWords(probes.Dialects...), (*redactor).hashed},
	"LogCount.Kind":         {"kinds of log lines", keepWords(probes.LogKinds...), (*redactor).hashed},
	"LogNumber.Name":        {"names of numbers in log lines", keepWords(probes.LogNumberNames...), (*redactor).hashed},
	"Canary.Endpoint":       endpointRule,
	"Canary.Err":            freeText,

	"Process.Name":   {"names of processes", nil, (*redactor).hashed},
	"GPU.Driver":     {"versions of drivers", keepShape(versionShape), (*redactor).hashed},
	"GPU.Note":       freeText,
	"GPUDevice.UUID": {"GPU UUIDs", nil, (*redactor).uuid},
	"GPUDevice.Name": {"GPU models", func(_ *redactor, s string) bool { return isGPUModel(s) }, (*redactor).hashed},
	"GPUDevice.Err":  freeText,

	"Manifest.Format":  {"versions of the format", keepShape(versionShape), nil},
	"Manifest.Version": {"versions of llmtop", keepShape(versionShape), nil},
	"Manifest.Host":    {"host names", nil, (*redactor).hashed},
	"Manifest.OS":      {"operating systems", func(_ *redactor, s string) bool { return isSystem(s) }, nil},
	"Manifest.CPU":     {"CPU models", nil, (*redactor).hashed},

	"Finding.State": {"states of findings", keepWords("healthy", "degraded", "unknown", "unmeasurable"), (*redactor).hashed},
	"Finding.Cause": {"causes of findings", func(x *redactor, s string) bool { return x.options.Cause(s) }, (*redactor).hashed},
	"Finding.Line":  {"words of findings", nil, nil},
	"Mark.Text":     ruleOfMarks,
	"Gap.Reason":    {"reasons of gaps", keepWords("the disk does not keep up"), nil},
}

var finishWords = []string{"stop", "length", "abort", "error", "repetition", "rejected", "tool_calls", "cancelled", "timeout"}

// text is what stands for a text in the copy. The empty text stays.
func (x *redactor) text(field, s string) string {
	if s == "" {
		return s
	}
	r, ok := fieldRules[field]
	if !ok {
		r = freeText
	}
	return x.apply(r, s)
}

func (x *redactor) apply(r rule, s string) string {
	if r.keep != nil && r.keep(x, s) {
		x.count(r.what, "kept", s)
		return s
	}
	if r.hash == nil {
		x.count(r.what, "dropped", s)
		return dropped
	}
	to, done := r.hash(x, s), "hashed"
	switch {
	case to == s: // it says nothing: a loopback address
		done = "kept"
	case x.options.Drop:
		done = "dropped"
	}
	x.count(r.what, done, s)
	return to
}

func keepWords(words ...string) func(*redactor, string) bool {
	set := map[string]bool{}
	for _, w := range words {
		set[w] = true
	}
	return func(_ *redactor, s string) bool { return set[s] }
}
