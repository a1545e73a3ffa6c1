package model

import "strings"

// arch is what sets an architecture apart: the rest of the network is that of Llama.
type arch struct {
	name   string
	turn   func(x, cos, sin []float32, headDim int) // the rotation of queries and keys by position
	biased bool                                     // whether queries, keys and values must have a bias; otherwise they may
}

// archs lists the architectures by their name in GGUF.
var archs = []arch{
	{name: "llama", turn: rope},
	{name: "qwen2", turn: ropeHalves, biased: true},
}

// archOf is nil for an architecture that is not supported.
func archOf(name string) *arch {
	for i := range archs {
		if archs[i].name == name {
			return &archs[i]
		}
	}
	return nil
}

func archNames() string {
	var names []string
	for _, a := range archs {
		names = append(names, a.name)
	}
	return strings.Join(names, " and ")
}
