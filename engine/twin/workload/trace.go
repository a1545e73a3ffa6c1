package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmtop/engine"
)

// Row is a request of a trace: what is known of it without its text.
type Row struct {
	At           time.Duration // since the start
	Prefix       uint64        // whose prompts begin alike; 0: this one's with none
	Prompt       int32
	Output       int32
	PrefixTokens int32 // how far; 0: as far as the shorter of two goes
	Adapter      int32
	Schema       int32
	Images       int16
	Class        engine.Class
	Unary        bool // the answer is not streamed
	Slow         bool
}

// Trace is a list of requests, in order of arrival.
type Trace struct {
	Name string
	Rows []Row
}

// Bounds of a trace file.
const (
	MaxRows  = 5_000_000
	maxLine  = 4096
	maxTrace = 1e8 // seconds from the first to the last
)

// columns are what a trace may tell, the needed ones first, and how each is read into a row.
var columns = []struct {
	name string
	read func(*Row, string) error
}{
	{"arrival_seconds", func(r *Row, s string) error {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= 0 && v <= maxTrace) {
			return fmt.Errorf("must be a number of seconds from 0 to %g", maxTrace)
		}
		r.At = time.Duration(math.Round(v * 1e9))
		return nil
	}},
	{"prompt_tokens", func(r *Row, s string) error { return whole(&r.Prompt, s, 1, MaxTokens) }},
	{"output_tokens", func(r *Row, s string) error { return whole(&r.Output, s, 1, MaxTokens) }},
	{"prefix_id", func(r *Row, s string) (err error) { r.Prefix, err = prefixID(s); return err }},
	{"class", func(r *Row, s string) (err error) {
		if s != "" {
			r.Class, err = engine.ParseClass(s)
		}
		return err
	}},
	{"prefix_tokens", func(r *Row, s string) error { return optional(&r.PrefixTokens, s, MaxTokens) }},
	{"stream", func(r *Row, s string) error {
		stream := int32(1)
		err := optional(&stream, s, 1)
		r.Unary = stream == 0
		return err
	}},
	{"adapter", func(r *Row, s string) error { return optional(&r.Adapter, s, maxKinds) }},
	{"schema", func(r *Row, s string) error { return optional(&r.Schema, s, maxKinds) }},
	{"images", func(r *Row, s string) error {
		images := int32(0)
		err := optional(&images, s, 100)
		r.Images = int16(images)
		return err
	}},
	{"slow", func(r *Row, s string) error {
		slow := int32(0)
		err := optional(&slow, s, 1)
		r.Slow = slow == 1
		return err
	}},
}

const neededColumns = 3

func whole(to *int32, s string, low, high int) error {
	v, err := strconv.Atoi(s)
	if err != nil || v < low || v > high {
		return fmt.Errorf("must be a whole number from %d to %d", low, high)
	}
	*to = int32(v)
	return nil
}

// optional is a whole number from 0; nothing leaves what is there.
func optional(to *int32, s string, high int) error {
	if s == "" {
		return nil
	}
	return whole(to, s, 0, high)
}

// prefixID takes any short word for an identity.
func prefixID(s string) (uint64, error) {
	if s == "" || s == "0" {
		return 0, nil
	}
	if v, err := strconv.ParseUint(s, 10, 64); err == nil {
		return v, nil
	}
	if len(s) > 64 {
		return 0, errors.New("must be a word of at most 64 bytes")
	}
	h := fnv.New64a()
	h.Write([]byte(s))
	return max(1, h.Sum64()), nil
}

// ReadTrace reads a CSV file of requests; name is how errors call it. The whole of it is
// read and checked, so that what is wrong is said before anything runs.
func ReadTrace(r io.Reader, name string) (*Trace, error) {
	t := &Trace{Name: name}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	var read []int // which column each field is
	n := 0
	for lines.Scan() {
		n++
		text := lines.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if text = strings.TrimSpace(text); text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		var err error
		if read == nil {
			read, err = header(text)
		} else {
			err = t.add(text, read)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: the line is longer than %d bytes: this is no trace", name, n+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case read == nil:
		return nil, fmt.Errorf("%s: the file is empty: a trace begins with %s", name, headerText(5))
	case len(t.Rows) == 0:
		return nil, fmt.Errorf("%s: no request in it", name)
	}
	return t, nil
}

// header finds the columns.
func header(text string) ([]int, error) {
	if bytes.IndexByte([]byte(text), 0) >= 0 {
		return nil, errors.New("this is no text: a trace is a CSV file")
	}
	var read []int
	for _, field := range strings.Split(text, ",") {
		field = strings.Trim(strings.TrimSpace(field), `"`)
		i := 0
		for i < len(columns) && columns[i].name != field {
			i++
		}
		switch {
		case i == len(columns):
			return nil, fmt.Errorf("there is no column %.40q; there are %s", field, headerText(len(columns)))
		case slices.Contains(read, i):
			return nil, fmt.Errorf("the column %s is there twice", field)
		}
		read = append(read, i)
	}
	for i := range neededColumns {
		if !slices.Contains(read, i) {
			return nil, fmt.Errorf("there is no column %s; a trace begins with %s", columns[i].name, headerText(5))
		}
	}
	return read, nil
}

func headerText(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = columns[i].name
	}
	return strings.Join(names, ",")
}

// add reads a row.
func (t *Trace) add(text string, read []int) error {
	if len(t.Rows) == MaxRows {
		return fmt.Errorf("more than %d requests: take a part of it", MaxRows)
	}
	if n := strings.Count(text, ",") + 1; n != len(read) {
		return fmt.Errorf("%d fields where the first line has %d", n, len(read))
	}
	var r Row
	for _, c := range read {
		var field string
		field, text, _ = strings.Cut(text, ",")
		field = strings.Trim(strings.TrimSpace(field), `"`)
		if err := columns[c].read(&r, field); err != nil {
			return fmt.Errorf("%s %.40q: %w", columns[c].name, field, err)
		}
	}
	if n := len(t.Rows); n > 0 && r.At < t.Rows[n-1].At {
		return fmt.Errorf("arrival_seconds goes back from %s to %s: sort the requests by arrival", seconds(t.Rows[n-1].At), seconds(r.At))
	}
	if r.PrefixTokens > r.Prompt {
		return fmt.Errorf("prefix_tokens %d: the prompt has only %d", r.PrefixTokens, r.Prompt)
	}
	t.Rows = append(t.Rows, r)
	return nil
}

// written is how many of the columns WriteTrace writes: the rest is nothing that a recording knows.
const written = 7

// WriteTrace writes requests, in order of arrival, as ReadTrace reads them.
func WriteTrace(w io.Writer, rows []Row) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, headerText(written))
	for i := range rows {
		r := &rows[i]
		stream := 1
		if r.Unary {
			stream = 0
		}
		fmt.Fprintf(b, "%s,%d,%d,%d,%s,%d,%d\n", seconds(r.At), r.Prompt, r.Output, r.Prefix, r.Class, r.PrefixTokens, stream)
	}
	return b.Flush()
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
