package model

import "fmt"

// Config is the shape of a model, in numbers of elements.
type Config struct {
	Name                        string // general.name, or the file's name
	Arch                        string // general.architecture: llama or qwen2
	Dim, Layers, Heads, KVHeads int
	HeadDim, FFN, Vocab         int
	Context                     int // longest sequence in tokens
	RopeDim                     int // leading elements of each head that are rotated
	RopeBase                    float64
	RopeFactor                  float64 // positions are divided by it (linear scaling); 1 is none
	NormEps                     float32
	Parameters                  int64 // weights in the file
	FileBytes                   int64
}

// Largest values a configuration may have; they keep products far from overflow.
const (
	maxDim     = 1 << 16
	maxLayers  = 1 << 10
	maxVocab   = 1 << 20
	maxContext = 1 << 22
)

// Config reads the shape from the metadata and checks that it makes sense. It is an
// error for a file of an architecture that Load cannot compute.
func (f *File) Config() (Config, error) {
	c := Config{Name: f.name, FileBytes: f.size}
	c.Arch, _ = f.Text("general.architecture")
	if archOf(c.Arch) == nil {
		return Config{}, fmt.Errorf("architecture %s is not supported (%s are)", printable(c.Arch), archNames())
	}
	if name, ok := f.Text("general.name"); ok && name != "" {
		c.Name = name
	}
	for _, read := range []func(*Config) error{f.refuseVariants, f.counts, f.floats} {
		if err := read(&c); err != nil {
			return Config{}, err
		}
	}
	for _, t := range f.tensors {
		c.Parameters += int64(t.rows) * int64(t.cols)
	}
	return c, c.check()
}

// refuseVariants stops at features that would be computed wrongly.
func (f *File) refuseVariants(c *Config) error {
	if n, err := f.uint(c.Arch+".expert_count", 0); err != nil || n > 0 {
		return fmt.Errorf("mixture-of-experts models are not supported")
	}
	if kind, ok := f.Text(c.Arch + ".rope.scaling.type"); ok && kind != "none" && kind != "linear" {
		return fmt.Errorf("rope scaling %s is not supported (none, linear and the rope_freqs.weight of Llama 3 are)", printable(kind))
	}
	return nil
}

// floats fills in the fractions.
func (f *File) floats(c *Config) error {
	var errs [4]error
	var eps float64
	eps, errs[0] = f.float(c.Arch+".attention.layer_norm_rms_epsilon", 1e-5)
	c.NormEps = float32(eps)
	c.RopeBase, errs[1] = f.float(c.Arch+".rope.freq_base", 10000)
	old, err := f.float(c.Arch+".rope.scale_linear", 1) // the key before scaling had a type
	errs[2] = err
	c.RopeFactor, errs[3] = f.float(c.Arch+".rope.scaling.factor", old)
	if kind, ok := f.Text(c.Arch + ".rope.scaling.type"); ok && kind == "none" {
		c.RopeFactor = 1
	}
	return firstOf(errs[:])
}

// counts fills in the integers.
func (f *File) counts(c *Config) error {
	var errs [9]error
	c.Dim, errs[0] = f.uint(c.Arch+".embedding_length", 0)
	c.Layers, errs[1] = f.uint(c.Arch+".block_count", 0)
	c.FFN, errs[2] = f.uint(c.Arch+".feed_forward_length", 0)
	c.Context, errs[3] = f.uint(c.Arch+".context_length", 0)
	c.Heads, errs[4] = f.uint(c.Arch+".attention.head_count", 0)
	c.KVHeads, errs[5] = f.uint(c.Arch+".attention.head_count_kv", c.Heads)
	perHead := 0
	if c.Heads > 0 {
		perHead = c.Dim / c.Heads
	}
	c.HeadDim, errs[6] = f.uint(c.Arch+".attention.key_length", perHead)
	c.RopeDim, errs[7] = f.uint(c.Arch+".rope.dimension_count", c.HeadDim)
	c.Vocab = f.tensors["token_embd.weight"].rows
	valueDim, err := f.uint(c.Arch+".attention.value_length", c.HeadDim)
	if errs[8] = err; err == nil && valueDim != c.HeadDim {
		errs[8] = fmt.Errorf("key length %d and value length %d differ", c.HeadDim, valueDim)
	}
	return firstOf(errs[:])
}

// firstOf is the first error, nil when there is none.
func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) check() error {
	if c.Vocab == 0 {
		return fmt.Errorf("tensor token_embd.weight is missing")
	}
	for _, n := range []struct {
		name    string
		n, most int
	}{
		{"embedding length", c.Dim, maxDim}, {"block count", c.Layers, maxLayers}, {"feed forward length", c.FFN, maxDim},
		{"context length", c.Context, maxContext}, {"head count", c.Heads, maxDim}, {"KV head count", c.KVHeads, maxDim},
		{"head dimension", c.HeadDim, maxDim}, {"vocabulary", c.Vocab, maxVocab}, {"rope dimension", c.RopeDim, c.HeadDim},
	} {
		if n.n < 1 || n.n > n.most {
			return fmt.Errorf("%s of %d is not from 1 to %d", n.name, n.n, n.most)
		}
	}
	if c.Heads%c.KVHeads != 0 {
		return fmt.Errorf("%d heads do not share %d KV heads evenly", c.Heads, c.KVHeads)
	}
	if c.Heads*c.HeadDim > maxDim || c.RopeDim%2 != 0 {
		return fmt.Errorf("%d heads of %d with %d rotated elements", c.Heads, c.HeadDim, c.RopeDim)
	}
	if c.NormEps <= 0 || c.RopeBase <= 0 || c.RopeFactor <= 0 {
		return fmt.Errorf("norm epsilon %g, rope base %g or rope scaling factor %g is not positive", c.NormEps, c.RopeBase, c.RopeFactor)
	}
	return nil
}
