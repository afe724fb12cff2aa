package journal

import (
	"github.com/floodmark/floodmark"
)

// A Tombstone stands where a session's entries were erased. The chain goes on
// behind it: the next entry follows Link.
type Tombstone struct {
	Session Session
	// Link is the last entry that was erased.
	Link Link
	// Mark is the session's mark at that entry. What was erased is forgotten,
	// that it was untrusted is not.
	Mark floodmark.Label
	// At is when, Why what for: «retention» or «owner».
	At  int64 // nanoseconds since 1970, UTC
	Why string
	// Note is all this as a signed note (C2SP signed-note).
	Note []byte
}
