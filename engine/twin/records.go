package twin

import (
	"encoding/binary"
	"encoding/hex"
	"time"

	"llmtop/engine"
	"llmtop/engine/twin/exposition"
	"llmtop/probes"
)

// The engine keeps so many finished requests for who asks, and tells so many of those in
// flight (as /debug/requests and its probe have it).
const (
	finishedKept = 8192
	runningTold  = 256
)

// ring is the requests that have finished since they were taken, the newest finishedKept.
type ring struct {
	records []*probes.Request
	missed  int
	last    uint64
}

func (g *ring) add(r *probes.Request) {
	g.last++
	r.Seq = g.last
	if len(g.records) == finishedKept {
		n := copy(g.records, g.records[finishedKept/2:])
		g.records = g.records[:n]
		g.missed += finishedKept / 2
	}
	g.records = append(g.records, r)
}

// requests is the section of what has become of requests since the last call.
func (r *replica) requests(endpoint string) *probes.Requests {
	s := r.sim
	q := &probes.Requests{At: s.time(s.now), Endpoint: endpoint, InFlight: r.jobs.count, Missed: r.ring.missed, Finished: r.ring.records}
	r.ring.records, r.ring.missed = nil, 0
	for j := r.jobs.first; j != nil && len(q.Running) < runningTold; j = j.after {
		record := r.record(j)
		record.Seq = j.order
		q.Running = append(q.Running, record)
	}
	return q
}

// record is what the engine tells of a job, as it is now.
func (r *replica) record(j *job) *probes.Request {
	s := r.sim
	q := &probes.Request{
		ID:    name(mix(s.scenario.Seed ^ j.number<<8 ^ uint64(r.index))),
		Class: j.seq.Class.String(), Stream: j.stream, State: "finished", Finish: string(j.finish), Arrived: s.time(j.at).Truncate(time.Microsecond),
		PromptBytes: j.bytes, PromptTokens: j.prompt, CachedTokens: j.cached, OutputTokens: len(j.seq.Output), Preemptions: j.seq.Preemptions,
		DetokenizeBusySeconds: exact(j.detok), SendBusySeconds: exact(j.sending), PreemptedSeconds: exact(j.waited),
	}
	line := j.line
	if !j.over {
		q.Finish = ""
		q.State = r.pending(j, &line).String()
		if j.lost > 0 {
			q.PreemptedSeconds = exact(j.waited + s.now - j.lost)
		}
	} else {
		q.E2ESeconds = probes.Some(exact(line.Total()))
	}
	for stage := range engine.NumStages {
		q.Stages[stage] = exact(line.Spent(stage))
	}
	if j.shown > 0 && j.shown <= s.now {
		q.TTFTSeconds = probes.Some(exact(j.shown - j.at))
	}
	if len(j.seq.Output) > 1 {
		q.MaxITLSeconds = probes.Some(exact(j.gap))
	}
	return q
}

// name is a hashed id as the engine writes it.
func name(hash uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], hash)
	return hex.EncodeToString(b[:6])
}

// pending brings a line to now and says in which stage it is: stages that pass in one go
// are stamped when the last of them is over, and the one it is in counts until now.
func (r *replica) pending(j *job, line *engine.Timeline) engine.Stage {
	s := r.sim
	if line.Stage() == engine.StageReceive && j.read > 0 && j.read <= s.now {
		line.Finish(engine.StageReceive, s.time(j.read))
	}
	if line.Stage() == engine.StageParse && j.checked <= s.now {
		line.Finish(engine.StageParse, s.time(j.checked))
	}
	stage := line.Stage()
	line.Finish(stage, s.time(s.now))
	return stage
}

// tell is what the metrics page is told of a job; valid until the next call.
func (r *replica) tell(j *job) *exposition.Request {
	s := r.sim
	q := &s.request
	*q = exposition.Request{
		At: s.time(s.now), Line: &j.line, Prompt: j.prompt, Cached: j.cached, Output: len(j.seq.Output), Asked: j.seq.MaxTokens,
		Transfer: j.transfer.Seconds(), Finish: j.finish, Preempts: j.seq.Preemptions, Adapter: j.adapter,
		Class: j.seq.Class, AtOnce: !j.stream,
	}
	if j.remote {
		q.Received = j.prompt - 1
	}
	if j.shown > 0 {
		q.TTFT = (j.shown - j.at).Seconds()
	}
	if j.place == inBack {
		q.E2E = (s.now - j.at).Seconds()
		if n := len(j.seq.Output); n > 1 {
			q.TPOT = (j.last - j.first).Seconds() / float64(n-1)
		}
	}
	return q
}

// exact is a time in seconds, of whole microseconds.
func exact(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond).Microseconds()) / 1e6
}
