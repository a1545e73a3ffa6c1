package nvml

import "time"

// Call is how one driver function has answered for one device, for people who look for
// what is wrong with a driver.
type Call struct {
	Symbol  string        `json:"symbol"`
	GPU     int           `json:"gpu"`              // index; below 0: the host
	Calls   int           `json:"calls"`            // answered so far
	Failed  int           `json:"failed,omitempty"` // of those, the ones that did not succeed
	Result  string        `json:"result"`           // of the last one: "ok", or the error in words
	Median  time.Duration `json:"median"`           // how long it took, of the newest calls
	Longest time.Duration `json:"longest"`
	Out     time.Duration `json:"out,omitempty"` // how long the one that has not come back has been out
}
