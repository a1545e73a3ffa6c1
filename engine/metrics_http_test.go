package engine

import (
	"slices"
	"testing"
	"testing/synctest"

	dto "github.com/prometheus/client_model/go"
)

// The time of an HTTP request is told by path.
func TestHTTPDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startFake(t, nil)
		defer e.stop()
		e.post(t.Context(), "/v1/completions", completion(3, 2, ""))
		e.get("/health")
		got := map[string]uint64{}
		for _, m := range scrape(t, e)["http_request_duration_seconds"].GetMetric() {
			i := slices.IndexFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == "handler" })
			got[m.GetLabel()[i].GetValue()] += m.GetHistogram().GetSampleCount()
		}
		if got["/v1/completions"] != 1 || got["/health"] != 1 {
			t.Errorf("%v", got)
		}
	})
}
