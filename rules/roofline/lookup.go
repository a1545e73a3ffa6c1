package roofline

import (
	"fmt"
	"strings"
)

// LookupGPU finds a GPU by its name in scenarios or in NVML, letters of either case.
func LookupGPU(name string) (GPU, error) {
	for _, g := range GPUs {
		if strings.EqualFold(name, g.Name) || strings.EqualFold(name, g.NVML) {
			return g, nil
		}
	}
	return GPU{}, fmt.Errorf("there is no GPU %q in the hardware table; there are %s", name, names(len(GPUs), func(i int) string { return GPUs[i].Name }))
}

// LookupModel finds a model by its name in scenarios or that of a repository, letters of either case.
func LookupModel(name string) (Model, error) {
	for _, m := range Models {
		if strings.EqualFold(name, m.Name) {
			return m, nil
		}
		for _, alias := range m.Aliases {
			if strings.EqualFold(name, alias) {
				return m, nil
			}
		}
	}
	return Model{}, fmt.Errorf("there is no model %q in the model table; there are %s", name, names(len(Models), func(i int) string { return Models[i].Name }))
}

// LookupDType finds a type by its name; fp16 is kept and computed like bf16.
func LookupDType(name string) (DType, error) {
	if strings.EqualFold(name, "fp16") {
		return BF16, nil
	}
	for _, d := range dtypes {
		if strings.EqualFold(name, string(d.name)) {
			return d.name, nil
		}
	}
	return "", fmt.Errorf("there is no type %q; there are %s", name, names(len(dtypes), func(i int) string { return string(dtypes[i].name) }))
}

func names(n int, name func(int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = name(i)
	}
	return strings.Join(all, ", ")
}
