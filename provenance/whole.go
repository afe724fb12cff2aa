package provenance

import "github.com/floodmark/floodmark"

// Whole returns where a value was seen as a whole, not only in parts: enough
// to say that nothing was added to it.
func (t *Tracer) Whole(value string) []floodmark.Span {
	if t.Index == nil {
		return nil
	}
	for _, form := range t.read(value).whole {
		if spans := t.find(form); len(spans) > 0 {
			return firstNodes(spans)
		}
	}
	return nil
}
