package record

import "testing"

// TestSecretsInProse: what people write into marks and reasons, as `name: value`.
func TestSecretsInProse(t *testing.T) {
	for text, want := range map[string]string{
		"rolled back, password=hunter2 as before": "rolled back, password=[removed] as before",
		"DB_PASSWORD: hunter2":                    "DB_PASSWORD: [removed]",
		"passwd = hunter2, client_secret=a/b":     "passwd = [removed], client_secret=[removed]",
		"HF_TOKEN=hf_abc and access-token: xyz":   "HF_TOKEN=[removed] and access-token: [removed]",
		"the password was wrong; 5 tokens: fine":  "the password was wrong; 5 tokens: fine",
		"token budget=256, max_tokens=5":          "token budget=256, max_tokens=5",
	} {
		if got := clean(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if again := clean(want); again != want {
			t.Errorf("%q became %q the second time", want, again)
		}
	}
}
