package engine

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

// requestsAnswer is the answer of GET /debug/requests. Its names are a format that others read.
type requestsAnswer struct {
	Engine   string        `json:"engine"`
	PID      int           `json:"pid"`
	Now      time.Time     `json:"now"`
	Next     uint64        `json:"next"`      // the "after" of the next question
	Missed   uint64        `json:"missed"`    // finished since "after", but forgotten
	InFlight int           `json:"in_flight"` // all, also those beyond the limit
	Running  []requestJSON `json:"running"`
	Finished []requestJSON `json:"finished"`
}

// requestJSON is one request; times are in seconds, lengths in tokens unless they say bytes.
type requestJSON struct {
	Seq           uint64             `json:"seq"`
	ID            string             `json:"id"`
	Class         string             `json:"class"`
	Stream        bool               `json:"stream,omitempty"`
	State         string             `json:"state"` // a stage, or "finished"
	Finish        Finish             `json:"finish,omitempty"`
	Arrived       time.Time          `json:"arrived"`
	PromptBytes   int                `json:"prompt_bytes"`
	PromptTokens  int                `json:"prompt_tokens"`
	CachedTokens  int                `json:"cached_tokens"`
	OutputTokens  int                `json:"output_tokens"`
	Preemptions   int                `json:"preemptions,omitempty"`
	Stages        map[string]float64 `json:"stages"` // those reached; the current one counts until now
	TTFT          *float64           `json:"ttft_seconds,omitempty"`
	E2E           *float64           `json:"e2e_seconds,omitempty"`
	MaxITL        *float64           `json:"max_itl_seconds,omitempty"`
	Detokenizing  float64            `json:"detokenize_busy_seconds,omitempty"`
	Sending       float64            `json:"send_busy_seconds,omitempty"`
	PreemptedTime float64            `json:"preempted_seconds,omitempty"`
}

// defaultRequests and the ring's size bound one answer.
const defaultRequests = 1000

// serveRequests answers GET /debug/requests?state=running|finished&after=SEQ&limit=N.
func (e *Engine) serveRequests(w http.ResponseWriter, r *http.Request) {
	q, err := parseRequestsQuery(r.URL.Query())
	if err != nil {
		toAPI(err).write(w)
		return
	}
	now := e.config.Now()
	a := requestsAnswer{Engine: "llmtop", PID: os.Getpid(), Now: now.Truncate(time.Microsecond), Next: q.after, Running: []requestJSON{}, Finished: []requestJSON{}}
	running, all := e.log.inFlight(q.limit)
	a.InFlight = all
	if q.state != "finished" {
		for _, f := range running {
			a.Running = append(a.Running, f.json(now))
		}
	}
	if q.state != "running" {
		finished, missed, next := e.log.after(q.after, q.limit)
		if a.Next = next; q.follows {
			a.Missed = missed
		}
		for _, f := range finished {
			a.Finished = append(a.Finished, f.json(now))
		}
	}
	writeJSON(w, http.StatusOK, a)
}

type requestsQuery struct {
	state   string
	after   uint64
	follows bool // "after" was given
	limit   int
}

func parseRequestsQuery(v url.Values) (q requestsQuery, err error) {
	q.state = v.Get("state")
	if q.state != "" && q.state != "running" && q.state != "finished" {
		return q, badParam("state", "state must be running or finished")
	}
	if q.follows = v.Has("after"); q.follows {
		if q.after, err = strconv.ParseUint(v.Get("after"), 10, 64); err != nil {
			return q, badParam("after", "after must be a whole number")
		}
	}
	if q.limit, err = strconv.Atoi(cmp.Or(v.Get("limit"), strconv.Itoa(defaultRequests))); err != nil || q.limit < 1 {
		return q, badParam("limit", "limit must be a whole number of at least 1")
	}
	q.limit = min(q.limit, finishedKept)
	return q, nil
}

func (f facts) json(now time.Time) requestJSON {
	line := f.line
	j := requestJSON{
		Seq: f.seq, ID: f.id, Class: f.class.String(), Stream: f.stream, State: "finished", Finish: f.finish, Arrived: line.arrived.Truncate(time.Microsecond),
		PromptBytes: f.promptBytes, PromptTokens: f.promptTokens, CachedTokens: f.cachedTokens, OutputTokens: f.outputTokens, Preemptions: f.preemptions,
		Stages:       make(map[string]float64, NumStages),
		Detokenizing: seconds(f.detokenizeBusy), Sending: seconds(f.sendBusy), PreemptedTime: seconds(f.preempted),
	}
	if f.finish == "" {
		line = line.at(now)
		j.State = line.stage.String()
		if !f.preemptedAt.IsZero() {
			j.PreemptedTime = seconds(f.preempted + max(0, now.Sub(f.preemptedAt)))
		}
	} else {
		j.E2E = new(seconds(line.Total()))
	}
	if f.answering {
		j.TTFT = new(seconds(f.ttft))
	}
	if f.outputTokens > 1 {
		j.MaxITL = new(seconds(f.maxITL))
	}
	for s := range NumStages {
		if line.entered[s] {
			j.Stages[s.String()] = seconds(line.spent[s])
		}
	}
	return j
}

// seconds is a time in whole microseconds: a decimal that is short wherever it is written.
func seconds(d time.Duration) float64 { return float64(d.Round(time.Microsecond).Microseconds()) / 1e6 }
