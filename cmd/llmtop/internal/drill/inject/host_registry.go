package inject

// hostConstructors are the injectors that press on the host, or stand at a seam of the
// engine or between it and the load.
func hostConstructors() []constructor {
	return []constructor{
		{"cpu-quota", newCPUQuota},
		{"neighbours", newNeighbours},
		{"slow-disk", newSlowDisk},
		{"tight-memory", newTightMemory},
		{"tokenizer", newSlowTokenizer},
		{"detokenizer", newSlowDetokenizer},
		{"lock", newHeldLock},
		{"hang", newHang},
		{"threads", newThreads},
		{"collector", newCollector},
		{"log-pipe", newLogPipe},
		{"slow-readers", newSlowReaders},
		{"network", newNetwork},
		{"proxy-buffer", newBufferingProxy},
	}
}
