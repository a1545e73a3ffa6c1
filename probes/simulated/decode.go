package simulated

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"llmtop/probes"
)

// Section is what is simulated. Parts that are not are nil; the zero Section says that nothing is.
type Section struct {
	Endpoint   string             `json:"-"`         // of the engine
	Simulated  string             `json:"simulated"` // what it is: "h100x8, llama-3-70b"
	GPU        *probes.GPU        `json:"gpu"`
	Host       *probes.Host       `json:"host"`
	Process    *probes.Process    `json:"process"`
	Neighbours *probes.Neighbours `json:"neighbours"`
	Sockets    *probes.Sockets    `json:"sockets"`
}

// AddTo puts the parts in the place of what other probes have read, and marks the sample.
func (s *Section) AddTo(to *probes.Sample) {
	if s.Simulated == "" {
		return
	}
	to.Simulated = true
	if s.Endpoint != "" {
		to.SimulatedEngines = append(to.SimulatedEngines, s.Endpoint)
	}
	if s.GPU != nil {
		s.GPU.AddTo(to)
	}
	if s.Host != nil {
		s.Host.AddTo(to)
	}
	if s.Process != nil {
		s.Process.AddTo(to)
	}
	if s.Neighbours != nil {
		s.Neighbours.AddTo(to)
	}
	if s.Sockets != nil {
		s.Sockets.AddTo(to)
	}
}

// errNone is in the chain of an error about an answer that is something else.
var errNone = errors.New("nothing simulated")

// errUnfit is in the chain of an error about an answer that says that it is of a simulated
// engine, and is not as it should be.
var errUnfit = errors.New("not as this version of llmtop reads it")

// decode reads an answer; anything else is described in one line.
func decode(page *probes.Page) (*Section, error) {
	s := new(Section)
	if err := json.Unmarshal(page.Body, s); err != nil {
		if what := probes.Describe(page.ContentType, page.Body); what != "JSON" {
			return nil, fmt.Errorf("%s: found %s: %w", page.URL, what, errNone)
		}
		if s.Simulated != "" { // it is: that this host is shown in its place must not go unsaid
			return nil, fmt.Errorf("%s: decoding what is simulated: %s: %w", page.URL, probes.Printable(err.Error(), 150), errUnfit)
		}
		return nil, fmt.Errorf("%s: decoding what is simulated: %s: %w", page.URL, probes.Printable(err.Error(), 150), errNone)
	}
	if s.Simulated == "" {
		return nil, fmt.Errorf("%s: found JSON that says nothing of it: %w", page.URL, errNone)
	}
	clean(reflect.ValueOf(s).Elem())
	return s, nil
}

// Bounds of what is kept of an answer.
const (
	maxList = 4096
	maxText = 300
	maxSize = 1e18 // of a number: no reading is greater
)

var (
	timeType = reflect.TypeFor[time.Time]()
	optType  = reflect.TypeFor[probes.Opt[float64]]()
)

// clean makes texts printable and times such as samples have them, cuts lists and drops
// numbers that are none of a reading, wherever they are in v.
func clean(v reflect.Value) {
	each(v, func(v reflect.Value) {
		switch {
		case v.Type() == timeType:
			v.Set(reflect.ValueOf(probes.Stamp(v.Interface().(time.Time))))
		case v.Kind() == reflect.String:
			v.SetString(probes.Printable(v.String(), maxText))
		case v.Kind() == reflect.Slice && v.Len() > maxList:
			v.SetLen(maxList)
		case v.Kind() == reflect.Float64 && math.Abs(v.Float()) > maxSize:
			v.SetFloat(0)
		case v.Type() == optType:
			if o := v.Interface().(probes.Opt[float64]); math.Abs(o.Or(0)) > maxSize {
				v.SetZero()
			}
		}
	})
}

// each calls do for whatever is in v and can be set: of a list first itself, then its items.
func each(v reflect.Value, do func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			each(v.Elem(), do)
		}
		return
	case reflect.String, reflect.Float64, reflect.Slice, reflect.Struct:
		if v.CanSet() {
			do(v)
		}
	}
	switch {
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), do)
		}
	case v.Kind() == reflect.Struct && v.Type() != timeType:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				each(v.Field(i), do)
			}
		}
	}
}
