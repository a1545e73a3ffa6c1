package inject

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// engineRequest is what the engine tells of a request that has finished, by its own stamps.
type engineRequest struct {
	Arrived      time.Time          `json:"arrived"`
	OutputTokens int                `json:"output_tokens"`
	Stages       map[string]float64 `json:"stages"`                  // seconds
	Detokenizing float64            `json:"detokenize_busy_seconds"` // making text of tokens
}

// answerTime bounds a question to the engine, which may be slow then.
const answerTime = 10 * time.Second

// page reads what an engine has at a path.
func page(url, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, 64<<20))
}

// finishedSince asks the engine for the requests that have arrived since a moment and finished.
func finishedSince(url string, since time.Time) (out []engineRequest, err error) {
	b, err := page(url, "/debug/requests?state=finished&limit=8192")
	if err != nil {
		return nil, err
	}
	var answer struct {
		Finished []engineRequest `json:"finished"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return nil, fmt.Errorf("/debug/requests: %w", err)
	}
	for _, r := range answer.Finished {
		if !r.Arrived.Before(since) {
			out = append(out, r)
		}
	}
	return out, nil
}

// meanOf is the mean of a reading of requests, 0 of none.
func meanOf(requests []engineRequest, of func(engineRequest) float64) float64 {
	sum := 0.0
	for _, r := range requests {
		sum += of(r)
	}
	return sum / float64(max(1, len(requests)))
}

// stage is the seconds that requests spent in a stage.
func stage(name string) func(engineRequest) float64 {
	return func(r engineRequest) float64 { return r.Stages[name] }
}
