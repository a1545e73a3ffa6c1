package drill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// Sources that are left out of a run's further recordings, one recording each.
var sourcesLeftOut = [][]string{{"gpu"}, {"host"}, {"stages"}, {"profile"}}

// Variants are the sources that a suite leaves out of further recordings of an instance: one
// each, of the medium faults, whose story is the same without them.
func (i *Instance) Variants() [][]string {
	if i.Engine != "twin" || i.Severity != Medium || i.Drill.Kind == Healthy {
		return nil
	}
	return sourcesLeftOut
}

// ahead is how many runs may be done before their turn, for each processor.
const ahead = 2

// RunAll runs instances on the twin, as many at once as there are processors, and hands out what
// came of them in the order of the instances, one after the other. Recordings are files in dir
// whose names tell nothing; the first is the whole one. They belong to done, which removes them
// when it has no more need; RunAll is some runs ahead of it and no more. The first error ends
// all, and what is not handed out is removed.
func RunAll(ctx context.Context, all []Instance, dir string, variants func(*Instance) [][]string, done func(Truth, []Recording) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := max(1, runtime.GOMAXPROCS(0))
	results := make([]chan outcome, len(all))
	for n := range results {
		results[n] = make(chan outcome, 1)
	}
	next := make(chan int)
	room := make(chan struct{}, ahead*workers)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for n := range next {
				results[n] <- runOne(ctx, all[n], dir, variants)
			}
		})
	}
	running.Go(func() {
		defer close(next)
		for n := range all {
			select {
			case room <- struct{}{}:
			case <-ctx.Done():
				return
			}
			next <- n
		}
	})
	err := handOut(ctx, results, room, done)
	cancel()
	running.Wait()
	for n := range results { // what nobody took
		select {
		case o := <-results[n]:
			o.remove()
		default:
		}
	}
	return err
}

// outcome is what came of a run.
type outcome struct {
	truth Truth
	files []Recording
	err   error
}

// remove takes the files away; a run that failed has left none.
func (o *outcome) remove() {
	if o.err != nil {
		return
	}
	for _, f := range o.files {
		os.Remove(f.Path)
	}
}

// handOut gives out the results in their order.
func handOut(ctx context.Context, results []chan outcome, room chan struct{}, done func(Truth, []Recording) error) error {
	for n := range results {
		select {
		case o := <-results[n]:
			<-room
			if o.err != nil {
				return o.err
			}
			if err := done(o.truth, o.files); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// runOne runs one instance into files of its own.
func runOne(ctx context.Context, i Instance, dir string, variants func(*Instance) [][]string) outcome {
	o := outcome{files: []Recording{{Path: i.file(dir, nil)}}}
	if variants != nil {
		for _, missing := range variants(&i) {
			o.files = append(o.files, Recording{Path: i.file(dir, missing), Missing: missing})
		}
	}
	if i.Engine != "twin" {
		o.err = errors.New("only the twin runs in virtual time")
		return o
	}
	if o.truth, o.err = RunTwin(ctx, i, o.files[0].Path, o.files[1:]...); o.err != nil && ctx.Err() == nil {
		o.err = fmt.Errorf("drill %s, %s, seed %d: %w", i.Drill.ID, i.Severity, i.Seed, o.err)
	}
	return o
}

// file is where a recording goes. Whoever judges it sees the name, so that it is a number which
// nobody can make anything of.
func (i *Instance) file(dir string, missing []string) string {
	key := fmt.Sprint(i.Drill.ID, i.Engine, i.Severity, i.Seed, slices.Sorted(slices.Values(missing)))
	if i.World != nil {
		key += i.World.Name
	}
	return filepath.Join(dir, fmt.Sprintf("%016x.llmrec", hash(key)))
}
