package record

import "maps"

// Facts adds to what the manifest says, once more is known than at the start: the
// engine's version, its flags. Later facts win. ErrDropped means that the queue is full.
func (w *Writer) Facts(facts map[string]string) error {
	if len(facts) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.queue <- item{facts: maps.Clone(facts)}:
		return nil
	default:
		return ErrDropped
	}
}

// know appends a manifest with more facts, and makes it the one that is repeated. When it
// cannot be written now, it will be with the next copy.
func (a *appender) know(b []byte, facts map[string]string) ([]byte, error) {
	a.facts.Facts = merged(a.facts.Facts, facts)
	j, err := marshal(a.facts)
	if err != nil || len(j) > maxRecord {
		return b, err
	}
	a.manifest = a.repeated(typeManifest, j)
	return a.manifest.appendTo(b, a.prefix.group), nil
}
