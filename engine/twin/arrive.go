package twin

import (
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/machine"
	"llmtop/engine/twin/workload"
)

// arrive sends a request to a replica. With prefill instances a second job begins at one
// of them at the same moment, with the same prompt: its keys and values are what the
// first one waits for (as SGLang and Dynamo do it).
func (s *Simulation) arrive(q *workload.Request) {
	s.tally.Arrived++
	r := s.choose(s.decoders(), q.Prefix)
	var first *replica
	if p := s.scenario.Prefills; p > 0 {
		first = s.choose(s.replicas[:p], q.Prefix)
	}
	if r == nil || s.scenario.Prefills > 0 && first == nil || s.jobs.open() >= maxOpen || s.held+q.Prompt > maxHeld {
		s.tally.Refused++
		s.tally.Failed++
		return
	}
	j := s.admit(q, r, first, s.network.nagle)
	j.meant = min(q.At, s.now)
}

// admit begins the job of a request at a replica, and with prefill instances at one of those;
// its body is held back for so long.
func (s *Simulation) admit(q *workload.Request, r, first *replica, held time.Duration) *job {
	s.open++
	j := r.begin(q, s.tally.Arrived, q.Slow)
	if first != nil {
		peer := first.begin(q, s.tally.Arrived, false)
		peer.prefill, peer.arrived, peer.output, peer.guided, peer.schema = true, true, 1, false, 0
		j.peer, peer.peer = peer, j
		first.read(peer, held)
	} else {
		j.arrived = true
	}
	r.read(j, held)
	return j
}

// decoders are the replicas whose answers go to clients.
func (s *Simulation) decoders() []*replica { return s.replicas[s.scenario.Prefills:] }

// begin makes a job of a request; slow says that its client reads slowly, which a prefill
// instance's part of it has nothing to do with.
func (r *replica) begin(q *workload.Request, number uint64, slow bool) *job {
	s := r.sim
	j := s.jobs.take()
	j.replica, j.number, j.at, j.meant = r, number, s.now, s.now
	j.line = engine.NewTimeline(s.time(s.now))
	j.bytes, j.prompt, j.output = q.Bytes, max(1, q.Prompt), max(1, q.Output)
	j.stream, j.slow, j.images = q.Stream, slow, q.Images
	j.adapter, j.schema, j.guided = q.Adapter, q.Schema, q.Schema > 0
	j.prefix = append(j.prefix, q.Prefix...)
	j.seq.Class = q.Class
	j.own = stream(mix(s.scenario.Seed ^ number<<1))
	j.answer = stream(mix(s.scenario.Seed ^ number<<1 ^ 1))
	if n := len(q.Prefix); q.GoesOn && n > 0 {
		j.answer = segment(q.Prefix[n-1].ID).after(q.Prefix[n-1].Tokens)
	}
	s.held += j.prompt
	r.arrivals++
	j.order = r.arrivals
	r.jobs.add(j)
	r.load.Requests++
	r.load.BytesIn += float64(j.bytes)
	if r.page != nil {
		r.page.Arrived(s.time(s.now), j.bytes)
	}
	return j
}

// read takes in the body of a request, as fast as the network lets it through, and as late as it is
// held back.
func (r *replica) read(j *job, held time.Duration) {
	if over := r.sim.upload(j.bytes) + held; over > r.sim.now {
		r.sim.at(over, bodyRead, j)
		return
	}
	r.receive(j)
}

// receive is a job's first turn on the event loop: HTTP, JSON, credentials, in one go.
func (r *replica) receive(j *job) {
	s := r.sim
	receive := s.front.Receive + per(s.front.ReceiveKB, j.bytes)
	parse := times(s.front.Parse+per(s.front.ParseKB, j.bytes), r.slow.parse)
	auth := s.front.Auth
	r.spend(machine.Receive, receive+parse+auth)
	over := r.loop.serve(s.now, r.onCPU(receive+parse+auth)+r.logLine(), &r.pauses)
	j.checked = over - r.onCPU(auth)
	j.read = max(s.now, j.checked-r.onCPU(parse))
	s.at(over+r.slow.auth, parsed, j)
}

// tokenize gives a job its place in the queue, or refuses it, which must be cheap; then
// its text waits for a thread.
func (r *replica) tokenize(j *job) {
	s := r.sim
	j.line.Finish(engine.StageReceive, s.time(j.read))
	j.line.Finish(engine.StageParse, s.time(j.checked))
	j.line.Finish(engine.StageAuth, s.time(s.now))
	if n := s.scenario.MaxQueue; n >= 0 && r.queued[classIndex(j)] >= n {
		j.line.Skip(engine.StageSend, s.time(s.now))
		r.end(j, engine.FinishRejected)
		return
	}
	j.queued = true
	r.queued[classIndex(j)]++
	r.tokenizer.send(j)
}

// tokenizing is how long the text of a job takes.
func (r *replica) tokenizing(j *job) time.Duration {
	f := &r.sim.front
	work := times(f.Tokenize+per(f.TokenizeKB, j.bytes), r.slow.tokenizer)
	r.spend(machine.Tokenize, work)
	return r.onCPU(work)
}

// decodeImages is what a request with images waits for before its prompt is put together.
func (r *replica) decodeImages(j *job) {
	j.leave(byFront)
	j.line.Finish(engine.StageTokenize, r.sim.time(r.sim.now))
	if j.images == 0 {
		r.assemble(j)
		return
	}
	r.media.send(j)
}

// decoding is how long the images of a job take.
func (r *replica) decoding(j *job) time.Duration {
	work := times(r.sim.front.Image*time.Duration(j.images), r.slow.multimodal)
	r.spend(machine.Images, work)
	return r.onCPU(work)
}

// assemble is a job's second turn on the event loop; then it is handed to the engine's process.
func (r *replica) assemble(j *job) {
	s := r.sim
	j.leave(byFront)
	work := times(s.front.Assemble+per(s.front.AssembleKTok, j.prompt), r.slow.assemble)
	r.spend(machine.Assemble, work)
	s.at(r.loop.serve(s.now, r.onCPU(work), &r.pauses)+s.front.Handoff/2, assembled, j)
}

// classIndex is where a class is in what is counted by class.
func classIndex(j *job) int { return int(j.seq.Class - engine.Realtime) }

// per is a time for each thousand, of n.
func per(thousand time.Duration, n int) time.Duration {
	return time.Duration(float64(thousand) * float64(n) / 1000)
}

func times(d time.Duration, factor float64) time.Duration {
	return time.Duration(float64(d) * factor)
}
