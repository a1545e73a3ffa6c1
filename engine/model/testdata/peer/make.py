#!/usr/bin/env python3
"""Makes goldens.json: what llama.cpp computes with small seeded models.

    python3 make.py [DIRECTORY]

needs Linux on x86-64, Python 3 and npm, which installs llama.cpp prebuilt (node-llama-cpp) into the
directory, a temporary one by default. llama.cpp quantises a pool of 256-weight blocks for every
type; a seeded generator lays matrices out of them, so that a test can build the same models from
the pools. Each model runs twice: as it is (llama.cpp then rounds activations to 8 bits or to the
type of the weights) and with its weights as the floats that llama.cpp unpacks them to.
"""
import array, base64, ctypes as C, hashlib, json, os, struct, subprocess, sys, tempfile

PACKAGE = "node-llama-cpp@3.22.1"
TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q8_0": 8, "Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "BF16": 30}
POOL, SPAN = 40, 256
DIM, LAYERS, HEADS, KV, HEAD, FFN, VOCAB, CONTEXT = 256, 2, 8, 2, 32, 256, 96, 64
TOKENS, SHOWN = 24, 6  # length of the sequence, last positions whose logits are kept

# name, architecture, type of the matrices, and what is special
MODELS = [(t.lower(), "llama", t, {}) for t in TYPES] + [
    ("qwen2", "qwen2", "F32", {}),
    ("qwen2 q8", "qwen2", "Q8_0", {"untied": "Q8_0"}),
    ("qwen2 mixed", "qwen2", "Q4_K", {"down": "Q6_K", "untied": "Q6_K"}),
    ("qwen2 linear", "qwen2", "Q5_K", {"factor": 4.0}),
    ("llama biased", "llama", "F32", {"bias": True}),
    ("llama linear", "llama", "F32", {"factor": 4.0}),
    ("llama 3", "llama", "Q6_K", {"untied": "Q6_K", "freqs": True, "base": 500000.0}),
]


class Random:
    """splitmix64."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        return z ^ z >> 31

    def unit(self):
        return (self.next() >> 40) / (1 << 24)


def floats(list):
    return struct.pack("<%df" % len(list), *list)


def pool():
    """Blocks whose parts of 32 differ in size and in mean."""
    r, out = Random(1), []
    for _ in range(POOL * SPAN // 32):
        x = r.next()
        size, mean = (1 + (x & 7)) / 32, ((x >> 3 & 7) - 3.5) / 256
        out += [(r.unit() - 0.5) * size + mean for _ in range(32)]
    return floats(out)


class Peer:
    def __init__(self, folder):
        libs = os.path.join(folder, "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/")
        load = lambda name: C.CDLL(libs + name, mode=C.RTLD_GLOBAL)
        self.base, self.ggml, self.llama = load("libggml-base.so"), load("libggml.v0.5.0.so"), load("libllama.v0.5.0.so")
        self.quiet = C.CFUNCTYPE(None, C.c_int, C.c_char_p, C.c_void_p)(lambda level, text, _: None)
        self.llama.llama_log_set(self.quiet, None)
        self.base.ggml_log_set(self.quiet, None)
        self.ggml.ggml_backend_load.restype = C.c_void_p
        # The plain build gives the same numbers on any machine.
        assert self.ggml.ggml_backend_load((libs + "libggml-cpu-x64.so").encode())
        for name in "llama_model_default_params", "llama_context_default_params":
            getattr(self.llama, name).restype = Params
        for name in "llama_model_load_from_file", "llama_init_from_model", "llama_get_logits_ith":
            getattr(self.llama, name).restype = C.c_void_p

    def quantise(self, kind, data):
        n = len(data) // 4
        out = C.create_string_buffer(len(data))
        self.base.ggml_quantize_chunk.restype = C.c_size_t
        size = self.base.ggml_quantize_chunk(TYPES[kind], data, out, C.c_int64(0), C.c_int64(n // SPAN), C.c_int64(SPAN), None)
        return out.raw[:size]

    def unpack(self, kind, data, n):
        if kind == "F32":
            return data
        self.base.ggml_get_type_traits.restype = C.c_void_p
        to_float = struct.unpack("<5q", C.string_at(self.base.ggml_get_type_traits(TYPES[kind]) + 8, 40))[4]
        out = C.create_string_buffer(4 * n)
        C.CFUNCTYPE(None, C.c_char_p, C.c_void_p, C.c_int64)(to_float)(data, C.addressof(out), n)
        return out.raw

    def logits(self, path, tokens):
        model = self.llama.llama_model_load_from_file(path.encode(), self.llama.llama_model_default_params())
        assert model, path
        params = self.llama.llama_context_default_params()
        assert params.at(104) == 1 and params.at(108) == 1 and params.at(52) == -1  # types of K and V, flash attention
        for offset, value in {0: CONTEXT, 28: 1, 32: 1, 52: 0, 104: 0, 108: 0}.items():  # context, threads, no flash attention, F32 cache
            params.set(offset, value)
        context = self.llama.llama_init_from_model(C.c_void_p(model), params)
        assert context, path
        n = len(tokens)
        one = (C.c_int32 * 1)(0)
        batch = Batch(n, (C.c_int32 * n)(*tokens), None, (C.c_int32 * n)(*range(n)), (C.c_int32 * n)(*[1] * n),
                      (C.POINTER(C.c_int32) * n)(*[one] * n), (C.c_int8 * n)(*[1] * n))
        assert self.llama.llama_decode(C.c_void_p(context), batch) == 0
        rows = [C.string_at(self.llama.llama_get_logits_ith(C.c_void_p(context), i), 4 * VOCAB) for i in range(n - SHOWN, n)]
        self.llama.llama_free(C.c_void_p(context))
        self.llama.llama_model_free(C.c_void_p(model))
        return b"".join(rows)


class Params(C.Structure):
    """A parameter structure of llama.h, of which only some fields are known by offset."""
    _fields_ = [("raw", C.c_uint8 * 256)]

    def at(self, offset):
        return struct.unpack_from("<i", bytes(self.raw), offset)[0]

    def set(self, offset, value):
        struct.pack_into("<i", self.raw, offset, value)


class Batch(C.Structure):
    _fields_ = [("n", C.c_int32), ("token", C.POINTER(C.c_int32)), ("embd", C.c_void_p), ("pos", C.POINTER(C.c_int32)),
                ("n_seq", C.POINTER(C.c_int32)), ("seq", C.POINTER(C.POINTER(C.c_int32))), ("logits", C.POINTER(C.c_int8))]


def tensors(arch, kind, special, pools, seed):
    """The tensors of a model in order: name, type, data, dimensions."""
    r, out = Random(seed), []

    def matrix(name, rows, cols, kind=kind):
        block = len(pools[kind]) // POOL
        picks = [r.next() % POOL for _ in range(rows * cols // SPAN)]
        out.append((name, kind, b"".join(pools[kind][i * block:(i + 1) * block] for i in picks), (cols, rows)))

    def vector(name, n, low, high):
        out.append((name, "F32", floats([low + (high - low) * r.unit() for _ in range(n)]), (n,)))

    matrix("token_embd.weight", VOCAB, DIM)
    for i in range(LAYERS):
        p = "blk.%d." % i
        vector(p + "attn_norm.weight", DIM, 0.5, 1.5)
        for name, rows in ("q", HEADS * HEAD), ("k", KV * HEAD), ("v", KV * HEAD):
            matrix(p + "attn_%s.weight" % name, rows, DIM)
            if arch == "qwen2" or "bias" in special:
                vector(p + "attn_%s.bias" % name, rows, -0.5, 0.5)
        matrix(p + "attn_output.weight", DIM, HEADS * HEAD)
        vector(p + "ffn_norm.weight", DIM, 0.5, 1.5)
        matrix(p + "ffn_gate.weight", FFN, DIM)
        matrix(p + "ffn_up.weight", FFN, DIM)
        matrix(p + "ffn_down.weight", DIM, FFN, special.get("down", kind))
    vector("output_norm.weight", DIM, 0.5, 1.5)
    if "untied" in special:
        matrix("output.weight", VOCAB, DIM, special["untied"])
    if "freqs" in special:
        vector("rope_freqs.weight", HEAD // 2, 1, 8)
    return out


def gguf(arch, special, list):
    text = lambda s: struct.pack("<Q", len(s)) + s.encode()
    u32 = lambda v: struct.pack("<II", 4, v)
    f32 = lambda v: struct.pack("<If", 6, v)
    string = lambda s: struct.pack("<I", 8) + text(s)
    keys = {"general.architecture": string(arch), "tokenizer.ggml.model": string("no_vocab")}
    for name, v in {"embedding_length": DIM, "block_count": LAYERS, "feed_forward_length": FFN, "context_length": CONTEXT, "vocab_size": VOCAB,
                    "attention.head_count": HEADS, "attention.head_count_kv": KV, "rope.dimension_count": HEAD}.items():
        keys[arch + "." + name] = u32(v)
    keys[arch + ".attention.layer_norm_rms_epsilon"] = f32(1e-5)
    keys[arch + ".rope.freq_base"] = f32(special.get("base", 10000.0))
    if "factor" in special:
        keys[arch + ".rope.scaling.type"] = string("linear")
        keys[arch + ".rope.scaling.factor"] = f32(special["factor"])
    head = b"GGUF" + struct.pack("<IQQ", 3, len(list), len(keys))
    for k, v in keys.items():
        head += text(k) + v
    body = b""
    for name, kind, data, dims in list:
        head += text(name) + struct.pack("<I", len(dims)) + struct.pack("<%dQ" % len(dims), *dims) + struct.pack("<IQ", TYPES[kind], len(body))
        body += data + bytes(-len(data) % 32)
    return head + bytes(-len(head) % 32) + body


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    if not os.path.isdir(os.path.join(folder, "node_modules")):
        subprocess.run(["npm", "install", "--silent", "--no-save", "--prefix", folder, PACKAGE], check=True)
    peer, base = Peer(folder), pool()
    pools = {t: base if t == "F32" else peer.quantise(t, base) for t in TYPES}
    r = Random(2)
    tokens = [r.next() % VOCAB for _ in range(TOKENS)]
    encode = lambda b: base64.b64encode(b).decode()
    out = {"peer": PACKAGE, "tokens": tokens, "pools": {t: encode(p) for t, p in pools.items() if t != "F32"}, "models": []}
    for i, (name, arch, kind, special) in enumerate(MODELS):
        list = tensors(arch, kind, special, pools, 100 + i)
        plain = [(n, "F32", peer.unpack(t, d, len(d) // (len(pools[t]) // POOL) * SPAN) if t != "F32" else d, dims) for n, t, d, dims in list]
        entry = dict(special, name=name, arch=arch, type=kind, seed=100 + i, sha256=hashlib.sha256(b"".join(t[2] for t in list)).hexdigest())
        for key, tensors_ in ("logits", list), ("unpacked", plain):
            path = os.path.join(folder, "model.gguf")
            with open(path, "wb") as f:
                f.write(gguf(arch, special, tensors_))
            entry[key] = encode(peer.logits(path, tokens))
        a, b = (array.array("f", base64.b64decode(entry[k])) for k in ("logits", "unpacked"))
        print("%-14s logits up to %6.2f, llama.cpp's own rounding %.2e" % (name, max(map(abs, b)), max(abs(x - y) for x, y in zip(a, b))))
        out["models"].append(entry)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "goldens.json"), "w") as f:
        json.dump(out, f, indent=1)
        f.write("\n")


main()
