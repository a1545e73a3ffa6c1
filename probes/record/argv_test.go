package record

import (
	"slices"
	"strings"
	"testing"
)

func TestCleanCommand(t *testing.T) {
	for _, c := range []struct{ argv, want string }{
		{"vllm|serve|m|--port|8000|--max-num-batched-tokens|8192|--tokenizer|t|--enable-prefix-caching", ""},
		{"vllm|--api-key|hunter2|--port|8000", "vllm|--api-key|[removed]|--port|8000"},
		{"vllm|--api-key|hunter2|hunter3|--port|8000", "vllm|--api-key|[removed]|[removed]|--port|8000"},
		{"vllm|--api-key|-hunter2|--port|8000", "vllm|--api-key|[removed]|--port|8000"},
		{"vllm|--api-key=hunter2", "vllm|--api-key=[removed]"},
		{"vllm|--hf_token=hunter2|--password|hunter2", "vllm|--hf_token=[removed]|--password|[removed]"},
		{"env|HF_TOKEN=hunter2|AWS_SECRET_ACCESS_KEY=hunter2|OMP_NUM_THREADS=4|vllm", "env|HF_TOKEN=[removed]|AWS_SECRET_ACCESS_KEY=[removed]|OMP_NUM_THREADS=4|vllm"},
		{"sh|-c|HF_TOKEN=hunter2 vllm serve m --api-key 'hunter2 hunter3' --port 1", "sh|-c|HF_TOKEN=[removed] vllm serve m --api-key [removed] --port 1"},
		{`vllm|--kv-transfer-config|{"api_key": "hunter2", "rank": 1}`, `vllm|--kv-transfer-config|{"api_key": "[removed]", "rank": 1}`},
		{"llmtop|http://user:hunter2@h:1/x?token=hunter2", "llmtop|http://h:1/x?token=[removed]"},
		{"curl|-H|Authorization: Bearer hunter2", "curl|-H|Authorization: [removed]"},
		{"x|hf_hunter2hunter2hunter2", "x|[removed]"},
		{"x|a\x1b[31mb", "x|a [31mb"},
		{"llmtop|--auth|bearer:hunter2|http://h:1", "llmtop|--auth|[removed]|[removed]"},
		{"llmtop|--auth=basic:ops:a 'hunter2|http://h:1", "llmtop|--auth=[removed]|http://h:1"},
		{"llmtop|record|--auth|key:hunter2|-o|x.llmrec", "llmtop|record|--auth|[removed]|-o|x.llmrec"},
		{"x|--auth-tokens|hunter2", "x|--auth-tokens|[removed]"},
	} {
		want := strings.Split(c.want, "|")
		if c.want == "" {
			want = strings.Split(c.argv, "|")
		}
		if got := CleanCommand(strings.Split(c.argv, "|")); !slices.Equal(got, want) {
			t.Errorf("%q\n got %q\nwant %q", c.argv, got, want)
		}
	}
	long := CleanCommand(slices.Repeat([]string{strings.Repeat("a", 9999)}, 9999))
	if len(long) > maxArgs+1 || len(long[0]) > maxArg+3 {
		t.Errorf("%d arguments of %d bytes are kept", len(long), len(long[0]))
	}
}

// FuzzCleanCommand: a secret behind a flag is gone, however it is surrounded.
func FuzzCleanCommand(f *testing.F) {
	f.Add("vllm", "--port", "8000")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		const secret = "hunter2hunter2"
		if strings.Contains(a+b+c, "hunter2") {
			return
		}
		for _, argv := range [][]string{{a, "--api-key", secret, b}, {a, "--api-key=" + secret, b}, {a, b, "HF_TOKEN=" + secret, c}} {
			if got := strings.Join(CleanCommand(argv), " "); strings.Contains(got, "hunter2") {
				t.Errorf("%q: %q", argv, got)
			}
		}
	})
}

func TestTheManifestHoldsNoSecretOfACommand(t *testing.T) {
	d := newDisk()
	w, err := newWriter(d, Manifest{Command: []string{"llmtop", "--api-key", "hunter2"}}, options{queue: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if got := d.reader(t).Info().Manifest.Command; !slices.Equal(got, []string{"llmtop", "--api-key", removed}) {
		t.Errorf("%q", got)
	}
}

// TestFactsThatComeLater: later facts win, also in a copy of the manifest and a file that is cut.
func TestFactsThatComeLater(t *testing.T) {
	samples := newTiny().rich(200)
	d := newDisk()
	w, err := newWriter(d, Manifest{Version: "1", Facts: map[string]string{"go": "1", "engine": "?"}}, options{queue: 500})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range samples {
		if i == 100 {
			w.Facts(map[string]string{"engine": "vllm 0.11", "api_key": "hunter2"})
		}
		w.Write(s)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m := d.reader(t).Info().Manifest
	if m.Version != "1" || m.Facts["go"] != "1" || m.Facts["engine"] != "vllm 0.11" || m.Facts["api_key"] != removed {
		t.Errorf("%+v", m)
	}
	cut, err := newReader(memory(d.data[:len(d.data)/4]), true)
	if err != nil {
		t.Fatal(err)
	}
	if f := cut.Info().Manifest.Facts; f["engine"] != "?" || f["go"] != "1" {
		t.Errorf("of the first quarter: %v", f)
	}
}
