package otlp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
)

// unit is how an attribute tells its number.
type unit uint8

const (
	inSeconds unit = iota
	inMilliseconds
	asDuration // text of a Rust Duration, such as "1.234567ms"
	inTokens
	asMark    // that it is there is all that counts
	asGenPath // a path of a request that generates text; others tell nothing
	asID      // of a request
	asFinish  // why it ended
)

// meaning is what an attribute says.
type meaning struct {
	fact fact
	unit unit
}

// attributes are all the attributes that are looked at, by key.
var attributes = joined(genAIAttributes, sglangAttributes, tgiAttributes, dynamoAttributes)

func joined(tables ...map[string]meaning) map[string]meaning {
	all := map[string]meaning{}
	for _, t := range tables {
		for key, m := range t {
			all[key] = m
		}
	}
	return all
}

const (
	maxAttributes = 128 // of a span that are looked at: the default limit of OpenTelemetry's SDKs
	maxText       = 256 // bytes of an attribute's text that are looked at
)

// factsOf reads the attributes that are in the tables; nil when none is.
func factsOf(list []*commonpb.KeyValue) *facts {
	var f *facts
	for _, kv := range list[:min(len(list), maxAttributes)] {
		m, known := attributes[kv.GetKey()]
		if !known || kv.GetValue() == nil {
			continue
		}
		if f == nil {
			f = &facts{}
		}
		f.take(m, kv.GetValue())
	}
	return f
}

func (f *facts) take(m meaning, v *commonpb.AnyValue) {
	number, ok := 0.0, true
	switch m.unit {
	case asID:
		if raw := text(v); raw != "" {
			f.id = hashed(raw)
		}
		return
	case asFinish:
		f.finish = finishOf(v)
		return
	case asMark:
	case asGenPath:
		ok = generates(text(v))
	case asDuration:
		number, ok = duration(v)
	case inMilliseconds:
		number, ok = numberOf(v)
		number /= 1000
	default:
		number, ok = numberOf(v)
	}
	if ok {
		f.told[m.fact], f.number[m.fact] = true, number
	}
}

// hashed is a short hash of a request's id: the same id gives the same hash, and
// nobody reads the id from it.
func hashed(raw string) string {
	sum := sha256.Sum256([]byte(raw))
	return hex.EncodeToString(sum[:6])
}

func text(v *commonpb.AnyValue) string {
	s, ok := v.GetValue().(*commonpb.AnyValue_StringValue)
	if !ok || len(s.StringValue) > maxText {
		return ""
	}
	return s.StringValue
}

func numberOf(v *commonpb.AnyValue) (float64, bool) {
	var x float64
	switch value := v.GetValue().(type) {
	case *commonpb.AnyValue_DoubleValue:
		x = value.DoubleValue
	case *commonpb.AnyValue_IntValue:
		x = float64(value.IntValue)
	case *commonpb.AnyValue_StringValue:
		var err error
		if x, err = strconv.ParseFloat(text(v), 64); err != nil {
			return 0, false
		}
	default:
		return 0, false
	}
	return x, !math.IsNaN(x) && !math.IsInf(x, 0)
}

// duration is seconds, from a text with a unit or a number of seconds.
func duration(v *commonpb.AnyValue) (float64, bool) {
	if d, err := time.ParseDuration(text(v)); err == nil {
		return d.Seconds(), true
	}
	return numberOf(v)
}

// finishWords are the reasons that are kept, in the words of this program.
var finishWords = map[string]string{
	"stop": "stop", "eos_token": "stop", "stop_sequence": "stop",
	"length": "length", "max_tokens": "length",
	"abort": "abort", "cancelled": "abort", "canceled": "abort",
	"error": "error", "tool_calls": "tool_calls", "repetition": "repetition",
}

// finishOf reads one word, a list of words, or such a list as JSON text (SGLang); of
// several choices the first one's counts.
func finishOf(v *commonpb.AnyValue) string {
	if list := v.GetArrayValue().GetValues(); len(list) > 0 {
		return finishWords[text(list[0])]
	}
	word := text(v)
	var list []string
	if strings.HasPrefix(word, "[") && json.Unmarshal([]byte(word), &list) == nil && len(list) > 0 {
		word = list[0]
	}
	return finishWords[word]
}
