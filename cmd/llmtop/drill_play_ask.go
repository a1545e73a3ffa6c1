package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"llmtop/cmd/llmtop/internal/drill"
	"llmtop/cmd/llmtop/internal/drill/score"
)

// answers are all that a game can be answered with, in order: what drills are to be called.
func answers() ([]string, error) {
	all, err := drill.All()
	if err != nil {
		return nil, err
	}
	ids := []string{score.Unknown}
	for _, d := range all {
		ids = append(ids, d.Expects...)
		ids = append(ids, d.Effects...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// mostAsked bounds how often the question is put again.
const mostAsked = 50

// askCause has the engineer name a cause: an id, a number of the list that ? prints, or a part of an id
// that fits one alone. Empty: nothing was named.
func askCause(ctx context.Context, in io.Reader, out io.Writer, ids []string) (string, error) {
	typed := linesOf(ctx, in)
	for range mostAsked {
		fmt.Fprint(out, "What was it? An id or a part of one, ? lists them, Enter gives up: ")
		var text string
		select {
		case line, ok := <-typed:
			if !ok {
				return "", nil
			}
			text = strings.ToLower(strings.TrimSpace(line))
		case <-ctx.Done():
			return "", ctx.Err()
		}
		switch found := matching(ids, text); {
		case text == "":
			return "", nil
		case text == "?":
			listAnswers(out, ids)
		case len(found) == 1:
			fmt.Fprintln(out, found[0])
			return found[0], nil
		case len(found) == 0:
			fmt.Fprintf(out, "no cause has %q in its id\n", oneLine(text))
		default:
			fmt.Fprintf(out, "%d have that: %s\n", len(found), strings.Join(found[:min(8, len(found))], ", "))
		}
	}
	return "", errors.New("no answer")
}

// linesOf are the lines of a reader; the goroutine stays in its last read when the context ends.
func linesOf(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// matching are the ids that a text can mean: the one of that name or number alone, else those that
// begin with it, else those that hold it.
func matching(ids []string, text string) []string {
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(ids) {
		return ids[n-1 : n]
	}
	if slices.Contains(ids, text) {
		return []string{text}
	}
	for _, fits := range []func(id, text string) bool{strings.HasPrefix, strings.Contains} {
		found := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !fits(id, text) })
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// listAnswers prints the ids with their numbers, three to a line.
func listAnswers(out io.Writer, ids []string) {
	for i, id := range ids {
		end := ""
		if i%3 == 2 || i == len(ids)-1 {
			end = "\n"
		}
		fmt.Fprintf(out, "%3d %-26s%s", i+1, id, end)
	}
}
