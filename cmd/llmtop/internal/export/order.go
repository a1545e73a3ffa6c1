package export

import (
	"slices"
)

// inOrder are the places of times from the oldest to the newest, each time once: after a
// clock that jumped back the last reading counts. Times are Unix ms.
func inOrder(times []int64) []int32 {
	order := make([]int32, len(times))
	sorted := true
	for i := range order {
		order[i] = int32(i)
		sorted = sorted && (i == 0 || times[i] > times[i-1])
	}
	if sorted {
		return order
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch {
		case times[a] < times[b]:
			return -1
		case times[a] > times[b]:
			return 1
		}
		return 0
	})
	kept := order[:0]
	for i, p := range order {
		if i+1 < len(order) && times[order[i+1]] == times[p] {
			continue
		}
		kept = append(kept, p)
	}
	return kept
}
