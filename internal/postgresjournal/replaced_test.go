package postgresjournal

import (
	"errors"
	"testing"

	"github.com/floodmark/floodmark"
)

// After this node has met a promoted server, connections to its predecessor are not used: their
// answers about other sessions may be stale, and nothing would notice.
func TestReplacedServersAreNotRead(t *testing.T) {
	j := open(t, testDSN(t), Options{})
	look := func() error {
		_, err := j.Artifacts(t.Context(), "a", []floodmark.Digest{{1}})
		return err
	}
	if err := look(); err != nil {
		t.Fatal(err)
	}
	j.shards[0].primary.timeline.Add(1) // as a writer does that met another server
	if err := look(); !errors.Is(err, errReplaced) {
		t.Errorf("a server that was replaced was asked: %v", err)
	}
	j.shards[0].primary.timeline.Add(-1)
	if err := look(); err != nil {
		t.Errorf("the newest server: %v", err)
	}
}
