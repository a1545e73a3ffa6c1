package engine

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// generation is a request for text, of either endpoint.
type generation interface {
	common() *params
	bytes() int                               // of the prompt's text
	tokenize(e *encoder) ([][]int, error)     // the texts of the prompt
	assemble(e *encoder, texts [][]int) []int // the prompt
	defaultMaxTokens() int                    // when the request does not say
	format() format
}

// call is one request for text on its way through the handler.
type call struct {
	*Engine
	w      http.ResponseWriter
	r      *http.Request
	record *record
	id     string // of the answer
	out    format
	finish Finish // what the record will say
	size   int    // of the body, in bytes
	queued bool   // the loop has been told
	begun  bool   // the head of the answer is written
}

// generate returns the handler of an endpoint that generates text.
func (e *Engine) generate(prefix string, parse func([]byte) (generation, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{Engine: e, w: w, r: r, id: prefix + newID(), finish: FinishError}
		c.record = e.log.open(c.id, e.config.Now())
		if o := e.config.Observer; o != nil {
			o.Arrived(c.record.snapshot().line.arrived, r.ContentLength)
		}
		w.Header().Set("X-Request-Id", c.record.id) // as the log and /debug/requests name it
		c.enter(StageReceive)
		defer c.close()
		if err := c.serve(parse); err != nil {
			c.refuse(err)
		}
	}
}

// close ends the record of the request, whatever has become of it.
func (c *call) close() {
	now := c.config.Now()
	c.closed(c.record, c.finish, now)
	if c.queued {
		c.config.Log.finished(c.record, now)
	} else {
		c.observe(Observer.Finished, c.record, 0, c.finish, now)
	}
	c.unlabel()
}

// serve answers the request, or returns the error to answer with.
func (c *call) serve(parse func([]byte) (generation, error)) error {
	if err := c.admits(); err != nil {
		c.finish = FinishRejected
		return err
	}
	body, err := receive(c.w, c.r, c.config.MaxBodyBytes)
	if err != nil {
		return err
	}
	c.size = len(body)
	c.done(StageReceive)
	g, err := parse(body)
	if err != nil {
		return err
	}
	c.record.update(func(f *facts) {
		f.promptBytes, f.stream, f.class = g.bytes(), g.common().Stream, g.common().class
	})
	c.done(StageParse)
	if err := c.authorize(c.r, g.common().Model); err != nil {
		return err
	}
	c.done(StageAuth)
	t := c.queue.enter(g.common().class)
	if t == nil {
		c.finish = FinishRejected
		c.metrics.refused(g.bytes())
		return c.tooMany(g.common().class)
	}
	defer t.leave()
	seq, err := c.sequence(g)
	if err != nil {
		return err
	}
	return c.run(g, newJob(seq, c.record, t))
}

// done ends a stage of the request that passes in this goroutine.
func (c *call) done(s Stage) {
	if o := c.config.Observer; o != nil {
		o.Stage(s, c.size)
	}
	c.record.finished(s, c.config.Now())
	c.enter(s + 1)
}

// run queues the job and passes its answer on.
func (c *call) run(g generation, j *job) error {
	p := g.common()
	c.out = g.format()
	c.out.id, c.out.model, c.out.created = c.id, c.config.ModelName, c.config.Now().Unix()
	c.out.usage, c.out.logprobs, c.out.bytes = p.includeUsage(), p.logprobs, c.tokenizer.Bytes

	ctx, leave := context.WithCancel(c.r.Context())
	a := newAnswer(c.Engine, j, textFilter{stops: p.stops, trim: c.out.chat}, p.Stream)
	over := make(chan struct{})
	c.done(StageAssemble)
	c.enter(StageSend)
	c.queued = true
	c.config.Log.received(c.record, j.seq.MaxTokens, c.config.Now())
	c.observe(Observer.Queued, c.record, j.seq.MaxTokens, "", c.config.Now())
	if !c.submit(j) {
		leave()
		return unavailable(errStopped.Error())
	}
	go func() {
		defer close(over)
		labelDetokenize.set()
		a.run(ctx)
	}()
	defer func() {
		leave()
		<-over
	}()
	if p.Stream {
		return c.stream(ctx, a)
	}
	return c.collect(ctx, a)
}

// usage counts the tokens of an answer that ends with p.
func (c *call) usage(a *answer, p piece) *usage {
	return newUsage(len(a.job.seq.Prompt), c.record.snapshot().cachedTokens, p.tokens)
}

// statusClientGone is nginx's status for a client that did not wait for its answer; it is only counted.
const statusClientGone = 499

// abandon ends a job whose client has gone. There is nobody to tell an error. But a
// client that has closed only its sending side still reads, and net/http would end
// the answer as if it were whole: the passed deadline breaks the connection instead.
func (c *call) abandon(j *job) error {
	c.finish = FinishAbort
	c.cancel(j)
	c.ended(j, FinishAbort, c.config.Now())
	if !c.begun {
		c.w.WriteHeader(statusClientGone)
	}
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Unix(1, 0)) // not every ResponseWriter can
	return nil
}

// interrupted is the error of an answer that did not come to its end.
func (c *call) interrupted(why Finish) error {
	c.finish = why
	if why == FinishAbort {
		return unavailable(errStopped.Error())
	}
	return internalError()
}

// refuse answers with an error. A client that has gone counts as an abort.
func (c *call) refuse(err error) {
	e := toAPI(err)
	if c.r.Context().Err() != nil || e.code == codeIncomplete {
		c.finish = FinishAbort
	}
	if !c.queued {
		c.config.Log.rejected(c.record, e, c.config.Now())
	}
	c.enter(StageSend)
	c.record.update(func(f *facts) { f.line.Skip(StageSend, c.config.Now()) })
	e.write(c.w)
}

// writeTimeout bounds one write to a client that does not read, by the machine's clock.
const writeTimeout = time.Minute

// write runs a write of a part of the answer, sees that it goes out, and notes how long that took.
func (c *call) write(part func() error) error {
	rc := http.NewResponseController(c.w)
	_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every ResponseWriter can
	defer rc.SetWriteDeadline(time.Time{})
	begun := c.config.Now()
	err := part()
	if err == nil {
		err = rc.Flush()
	}
	if errors.Is(err, http.ErrNotSupported) {
		err = nil
	}
	c.record.wrote(begun, c.config.Now(), err == nil)
	return err
}
