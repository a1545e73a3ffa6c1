package engine

// command is what handlers ask of the loop.
type command struct {
	job    *job
	cancel bool // else it is new
}

// submit hands a job to the loop; false means that the engine has stopped.
func (e *Engine) submit(j *job) bool { return e.tell(command{job: j}) }

// cancel makes the loop drop a job before its next step and free its blocks.
func (e *Engine) cancel(j *job) { e.tell(command{job: j, cancel: true}) }

func (e *Engine) tell(c command) bool {
	e.mu.Lock()
	ok := e.phase != stopped
	if ok {
		e.inbox = append(e.inbox, c)
	}
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
	return ok
}

// takeCommands carries out what handlers have asked for.
func (e *Engine) takeCommands() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.inbox {
		if c.cancel {
			e.drop(c.job, event{token: -1, at: e.config.Now(), finish: FinishAbort})
			continue
		}
		e.jobs[c.job.seq] = c.job
		c.job.seq.Arrived = e.config.Now()
		if err := e.scheduler.Add(c.job.seq); err != nil { // the handler has checked the lengths
			e.drop(c.job, event{token: -1, at: e.config.Now(), finish: FinishError})
		}
	}
	clear(e.inbox)
	e.inbox = e.inbox[:0]
	e.publish()
}

// drop ends a job with a last event. A job that has ended already stays as it is.
func (e *Engine) drop(j *job, last event) {
	if e.jobs[j.seq] != j {
		return
	}
	delete(e.jobs, j.seq)
	e.speculation.ended(j.seq)
	e.scheduler.Finish(j.seq)
	j.events.put(last)
	j.events.close()
}

// stop ends every job and refuses new ones.
func (e *Engine) stop() {
	e.takeCommands()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.phase = stopped
	now := e.config.Now()
	for _, c := range e.inbox { // came since takeCommands
		if !c.cancel {
			e.jobs[c.job.seq] = c.job
		}
	}
	e.inbox = nil
	for _, j := range e.jobs {
		e.drop(j, event{token: -1, at: now, finish: FinishAbort})
	}
	e.publish()
}
