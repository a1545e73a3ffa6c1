package twin

import (
	"time"

	"llmtop/engine/twin/knob"
)

// transfer sends the keys and values of a prompt from the prefill instance that has
// computed it to the one that decodes. Prompts of an instance go one after the other.
func (r *replica) transfer(j *job) {
	to := j.peer
	if to == nil {
		return // nobody waits for them any more
	}
	to.peer, j.peer = nil, nil
	to.remote, to.from, to.sentAt = true, r, r.sim.now
	r.wire.send(to)
}

// moving is how long the keys and values of a job are on their way.
func (r *replica) moving(to *job) time.Duration {
	s := r.sim
	bytes := float64(to.prompt) * r.tokenBytes
	r.load.TransferOut += bytes
	to.replica.load.TransferIn += bytes
	for _, at := range []*replica{r, to.replica} {
		for i := range at.gpus {
			at.gpus[i].LinkBytes += bytes / float64(len(at.gpus))
		}
	}
	return s.front.Connect + seconds(bytes/(s.wire*s.board.Value(knob.Transfer)))
}

// moved notes that a job's keys and values have come.
func (r *replica) moved(j *job) {
	j.leave(byWire)
	j.transfer = r.sim.now - j.sentAt
	j.arrived = true
	if j.place == held {
		r.gate(j)
	}
}
