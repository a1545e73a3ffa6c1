package main

import (
	"reflect"
	"testing"

	"llmtop/probes/host"
)

// All engines are told with where they listen; of one on another host there is no process.
func TestEnginesOfThisHost(t *testing.T) {
	a := &attached{}
	for _, url := range []string{"http://gpu-7:8000", "http://127.0.0.1:1/", "unix:/nowhere/llmtop.sock", "http://127.0.0.1:1#netns=1", "://"} {
		a.targets = append(a.targets, &target{url: url})
	}
	want := []host.Engine{
		{Endpoint: "http://gpu-7:8000"},
		{Endpoint: "http://127.0.0.1:1", Addr: "127.0.0.1:1"},
		{Endpoint: "unix:/nowhere/llmtop.sock", Addr: "unix:/nowhere/llmtop.sock"},
		{Endpoint: "http://127.0.0.1:1#netns=1", Addr: "127.0.0.1:1#netns=1"},
	}
	if got := a.engines(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
