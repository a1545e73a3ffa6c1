package twin

import (
	"strconv"

	"llmtop/engine"
)

// enqueue puts a job into the queue, first of all behind what it must wait for there
// beside room. A request that can never be served is refused.
func (r *replica) enqueue(j *job) {
	s := r.sim
	if j.prompt+j.output > r.capacity {
		j.line.Skip(engine.StageSend, s.time(s.now))
		r.end(j, engine.FinishError)
		return
	}
	j.line.Finish(engine.StageAssemble, s.time(s.now))
	j.place = held
	if r.page != nil {
		r.page.Queued(r.tell(j))
	}
	r.gate(j)
}

// add makes a job a sequence of the scheduler.
func (r *replica) add(j *job) {
	s, q := r.sim, &j.seq
	q.Prompt = appendPrompt(s.jobs.lists.take(j.prompt), j.prompt, j.prefix, &j.own)
	q.Output = s.jobs.lists.take(j.output)
	q.MaxTokens = j.output
	if j.finish = engine.FinishLength; !j.prefill && unit(mix(j.number^r.sim.scenario.Seed)) < s.front.Stops {
		j.finish = engine.FinishStop
		q.MaxTokens = min(roomy(j.output+1), r.capacity-j.prompt)
	}
	q.Arrived = s.time(s.now)
	if j.remote {
		q.Received = j.prompt - 1
	}
	q.Salt = r.salt(j)
	if err := r.scheduler.Add(q); err != nil { // the lengths are checked
		r.end(j, engine.FinishError)
		return
	}
	j.place = inScheduler
	r.step()
}

// roomy is n rounded up to what people ask for: a power of two, at least 64.
func roomy(n int) int {
	room := 64
	for room < n {
		room *= 2
	}
	return room
}

// salt keeps sequences from sharing blocks that must not: those of different adapters,
// and any two where prefix caching is off.
func (r *replica) salt(j *job) string {
	if !r.caching {
		return strconv.FormatUint(j.number, 36)
	}
	if j.adapter == 0 {
		return ""
	}
	return "lora-" + strconv.Itoa(j.adapter)
}
