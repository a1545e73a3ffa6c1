package simulated

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"llmtop/probes"
)

// Section is what is simulated. Parts that are not are nil; the zero Section says that nothing is.
type Section struct {
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

// decode reads an answer; anything else is described in one line.
func decode(page *probes.Page) (*Section, error) {
	s := new(Section)
	if err := json.Unmarshal(page.Body, s); err != nil {
		if what := probes.Describe(page.ContentType, page.Body); what != "JSON" {
			return nil, fmt.Errorf("%s: found %s: %w", page.URL, what, errNone)
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
)

var timeType = reflect.TypeFor[time.Time]()

// clean makes texts printable and times such as samples have them, and cuts lists, wherever
// they are in v.
func clean(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			clean(v.Elem())
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(probes.Printable(v.String(), maxText))
		}
	case reflect.Slice:
		if v.CanSet() && v.Len() > maxList {
			v.SetLen(maxList)
		}
		for i := range v.Len() {
			clean(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == timeType {
			if v.CanSet() {
				v.Set(reflect.ValueOf(probes.Stamp(v.Interface().(time.Time))))
			}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				clean(v.Field(i))
			}
		}
	}
}
