package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag that holds a number of bytes: 500M, 2G, 64k, 1048576. The units
// are powers of 1024; "MiB" and "MB" mean what "M" does.
type byteSize int64

func (b *byteSize) Type() string { return "size" }

func (b *byteSize) String() string {
	n := int64(*b)
	for _, u := range []struct {
		name string
		size int64
	}{{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"k", 1 << 10}} {
		if n > 0 && n%u.size == 0 {
			return fmt.Sprintf("%d%s", n/u.size, u.name)
		}
	}
	return strconv.FormatInt(n, 10)
}

func (b *byteSize) Set(text string) error {
	number := strings.TrimRight(text, "kKMGTiB")
	unit, ok := map[string]float64{
		"": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
	}[strings.TrimSuffix(strings.TrimSuffix(text[len(number):], "B"), "i")]
	ok = ok && text[len(number):] != "iB" && !strings.HasSuffix(text, "i")
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || strings.ContainsAny(number, "eExXpP_iInN+-") {
		return fmt.Errorf("is no size: give one such as 64k, 500M or 2G")
	}
	if n *= unit; n >= math.MaxInt64 {
		return fmt.Errorf("is too large")
	}
	*b = byteSize(n)
	return nil
}
