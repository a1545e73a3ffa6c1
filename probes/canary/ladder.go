package canary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"llmtop/probes"
)

// send sends a canary by the api that answered last, else by the first one that is
// there. An answer that says that there is no such page, or that the request is not
// understood, leads to the next; every other answer stands.
func (p *Probe) send(ctx context.Context) outcome {
	fresh := false // the model's name was asked for just now
	if p.model == "" {
		fresh = p.findModel(ctx)
	}
	var best outcome
	gone := map[string]bool{} // paths that are not there
	for _, i := range p.order() {
		a := &apis[i]
		if gone[a.path] {
			continue
		}
		out := p.exchange(ctx, a)
		if out.status == http.StatusNotFound && a.model && !fresh {
			before := p.model
			if fresh = true; p.findModel(ctx) && p.model != before {
				out = p.exchange(ctx, a)
			}
		}
		switch out.status {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
			gone[a.path] = true
		case http.StatusBadRequest, http.StatusUnprocessableEntity:
		default:
			if out.err == nil {
				p.api = i
			}
			return out
		}
		if best.err == nil || gone[best.path] {
			best = out
		}
	}
	if gone[best.path] {
		best.err = fmt.Errorf("%s: %w: none of the APIs that a canary can ask (OpenAI's, TGI's, llama.cpp's)", p.endpoint, probes.ErrNotExposed)
	}
	return best
}

// order is the apis to try, the one that answered last first.
func (p *Probe) order() []int {
	order := []int{p.api}
	for i := range apis {
		if i != p.api {
			order = append(order, i)
		}
	}
	return order
}

// findModel asks for the name of the first model; false when it is not told.
func (p *Probe) findModel(ctx context.Context) bool {
	page, err := p.models.Get(ctx, nil)
	if err != nil {
		return false
	}
	name := firstModel(page.Body)
	if name != "" {
		p.model = name
	}
	return name != ""
}

// maxModel is the longest name of a model that is sent back to the engine.
const maxModel = 512

func firstModel(body []byte) string {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	var kind *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &list); err != nil && !errors.As(err, &kind) {
		return ""
	}
	for _, m := range list.Data {
		if m.ID != "" && len(m.ID) <= maxModel {
			return m.ID
		}
	}
	return ""
}
