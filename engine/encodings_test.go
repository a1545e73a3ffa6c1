package engine

import (
	"context"
	"crypto/sha256"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func textKey(text string) encodingKey { return encodingKey{hash: sha256.Sum256([]byte(text))} }

// What is kept are the texts used last, as many as there is room for, each with its own tokens.
func TestEncodings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 1000
		c := newEncodings(most)
		var recent []int // texts, the last used at the end
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			n := rapid.IntRange(0, 30).Draw(t, "text")
			recent = append(without(recent, n), n)
			key := textKey(strconv.Itoa(n))
			if ids, ok := c.find(key); !ok {
				c.keep(key, make([]int, 5*n))
			} else if len(ids) != 5*n {
				t.Fatalf("text %d has %d tokens, want %d", n, len(ids), 5*n)
			}
			var want, used int
			for i := len(recent) - 1; i >= 0 && used+5*recent[i]+encodingCosts <= most; i-- {
				used += 5*recent[i] + encodingCosts
				want++
			}
			if len(c.byKey) != want || c.order.Len() != want || c.used != used {
				t.Fatalf("%d texts of %d tokens are kept, want %d of %d", len(c.byKey), c.used, want, used)
			}
			recent = recent[len(recent)-want:]
			for _, n := range recent {
				if _, ok := c.byKey[textKey(strconv.Itoa(n))]; !ok {
					t.Fatalf("text %d is forgotten before older ones", n)
				}
			}
		}
	})
}

func without(list []int, n int) (kept []int) {
	for _, v := range list {
		if v != n {
			kept = append(kept, v)
		}
	}
	return kept
}

// A text that would push out most others is not kept, and one is not two with and without control tokens.
func TestEncodingsRefuse(t *testing.T) {
	c := newEncodings(1000)
	c.keep(textKey("long"), make([]int, 400))
	if _, ok := c.find(textKey("long")); ok || c.used != 0 {
		t.Errorf("a text of 400 tokens is among the %d tokens kept", c.used)
	}
	c.keep(textKey("a"), []int{1})
	c.keep(textKey("a"), []int{1})
	key := textKey("a")
	key.special = true
	if _, ok := c.find(key); ok || c.used != 1+encodingCosts {
		t.Errorf("found %t, %d tokens kept", ok, c.used)
	}
	var none *encodings
	none.keep(key, []int{1})
	if _, ok := none.find(key); ok {
		t.Error("found where nothing is kept")
	}
}

// BenchmarkKnownText encodes a message of 2 KB that the engine has seen, and one that it has not.
func BenchmarkKnownText(b *testing.B) {
	e, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	ctx, over := context.WithCancel(b.Context())
	defer e.Run(ctx) // ends what the engine holds
	defer over()
	text := strings.Repeat("The p99 of TTFT is high and the queue is short. ", 43)
	for _, known := range []bool{true, false} {
		b.Run("known="+strconv.FormatBool(known), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			enc := e.encoder(b.Context())
			if !known {
				e.texts.kept = nil
			}
			for b.Loop() {
				if _, err := enc.encode(text, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
