package cost

import "llmtop/rules/roofline"

// efficiency is what a GPU reaches of its data sheet in an engine of today.
type efficiency struct {
	mfu       float64 // large matrix products in bf16
	attention float64 // causal attention of long prompts, of the bf16 rate
	mbu       float64 // weights streamed in a decode step
	kv        float64 // KV cache streamed in a decode step
	layer     float64 // seconds of a layer's many small kernels (norms, rotation, reductions) that overlap with nothing
	link      float64 // of the link's rate in a large all-reduce
}

// efficiencies are set to published measurements, which scripts/twingate/points.tsv marks "set"; those of GPUs
// without any are taken from their next of kin, and lower where the power limit bites in arithmetic (L4, L40S,
// PCIe cards). They lie where others have measured: MFU 0.4–0.6 and more on GPUs whose memory is fast for their
// arithmetic, MBU 0.6–0.85, GeForce with their large caches up to 0.92.
var efficiencies = map[string]efficiency{
	"a10":         {mfu: 0.55, attention: 0.50, mbu: 0.80, kv: 0.76, layer: 40e-6, link: 0.35},
	"a10g":        {mfu: 0.60, attention: 0.55, mbu: 0.80, kv: 0.76, layer: 40e-6, link: 0.35},
	"a100-40":     {mfu: 0.68, attention: 0.66, mbu: 0.80, kv: 0.78, layer: 38e-6, link: 0.70},
	"a100-80":     {mfu: 0.68, attention: 0.66, mbu: 0.80, kv: 0.78, layer: 38e-6, link: 0.70},
	"a100-pcie":   {mfu: 0.60, attention: 0.58, mbu: 0.80, kv: 0.78, layer: 38e-6, link: 0.35},
	"a6000":       {mfu: 0.68, attention: 0.68, mbu: 0.84, kv: 0.80, layer: 34e-6, link: 0.35},
	"rtx3090":     {mfu: 0.70, attention: 0.68, mbu: 0.84, kv: 0.80, layer: 32e-6, link: 0.25},
	"l4":          {mfu: 0.30, attention: 0.28, mbu: 0.84, kv: 0.80, layer: 34e-6, link: 0.35},
	"l40s":        {mfu: 0.42, attention: 0.38, mbu: 0.87, kv: 0.82, layer: 26e-6, link: 0.35},
	"rtx6000-ada": {mfu: 0.31, attention: 0.26, mbu: 0.90, kv: 0.85, layer: 26e-6, link: 0.35},
	"rtx4090":     {mfu: 0.68, attention: 0.62, mbu: 0.92, kv: 0.86, layer: 26e-6, link: 0.25},
	"h20":         {mfu: 0.90, attention: 0.86, mbu: 0.72, kv: 0.70, layer: 22e-6, link: 0.70},
	"h100":        {mfu: 0.63, attention: 0.52, mbu: 0.80, kv: 0.75, layer: 20e-6, link: 0.70},
	"h100-pcie":   {mfu: 0.55, attention: 0.45, mbu: 0.80, kv: 0.75, layer: 24e-6, link: 0.35},
	"h100-nvl":    {mfu: 0.58, attention: 0.48, mbu: 0.78, kv: 0.73, layer: 22e-6, link: 0.35},
	"h200":        {mfu: 0.63, attention: 0.52, mbu: 0.72, kv: 0.70, layer: 20e-6, link: 0.70},
	"b200":        {mfu: 0.55, attention: 0.45, mbu: 0.68, kv: 0.65, layer: 18e-6, link: 0.70},
	"rtx5090":     {mfu: 0.85, attention: 0.80, mbu: 0.92, kv: 0.86, layer: 20e-6, link: 0.25},
}

// otherwise is what a GPU that is not in the table reaches.
var otherwise = efficiency{mfu: 0.50, attention: 0.45, mbu: 0.75, kv: 0.70, layer: 30e-6, link: 0.35}

// quantised says how much of that is left when weights are not bf16: scales are applied and numbers widened on
// the way, and blocks of 128 fp8 weights do not fill the tensor cores as well as bf16 does.
var quantised = map[roofline.DType]struct{ mfu, mbu float64 }{
	roofline.BF16: {1, 1},
	roofline.FP8:  {0.85, 0.92},
	roofline.INT8: {0.80, 0.92},
	roofline.INT4: {0.75, 0.85}, // widened to bf16 in the kernel
	roofline.FP4:  {0.65, 0.85},
}

// Constants of kernels.
const (
	halfTokens    = 48.0   // a product of so many tokens reaches half of the MFU: tiles are not full
	sampleKernel  = 60e-6  // seconds to pick tokens on the GPU beside reading the logits
	sampleReads   = 4      // times that logits are read or written
	loraLayer     = 14e-6  // seconds a layer: shrink and expand for each of the four products
	expertsLayer  = 25e-6  // seconds a layer: route, sort, two grouped products
	drafterKernel = 350e-6 // seconds of a pass of the draft model beside reading its weights
	hiddenPasses  = 10     // times a layer reads or writes a token's hidden state
	innerPasses   = 3      // and that of the feed-forward part
	rowsPerTile   = 16     // a product has no fewer rows on tensor cores
)

func efficiencyOf(d *roofline.Deployment) efficiency {
	e, ok := efficiencies[d.GPU.Name]
	if !ok {
		e = otherwise
	}
	q := quantised[d.Weights]
	e.mfu *= q.mfu
	e.mbu *= q.mbu
	return e
}
