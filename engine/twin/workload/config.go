package workload

// Config says what requests come.
type Config struct {
	Rate float64 // requests per second, mean
}
