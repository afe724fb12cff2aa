package sqlitejournal

import (
	"errors"
	"fmt"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// A store of schema version 1 has no artifacts. Opening it migrates it and keeps all its entries.
func TestAStoreOfTheFirstFormTakesArtifacts(t *testing.T) {
	path := newPath(t)
	c, err := connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	script, err := migrations.ReadFile("migrations/1.sql")
	err = errors.Join(err, c.exec(string(script)), c.exec(fmt.Sprint("PRAGMA application_id=", applicationID)), c.exec("PRAGMA user_version=1"), c.close())
	if err != nil {
		t.Fatal(err)
	}
	j := open(t, path, Options{})
	chain := journaltest.NewChain("", "s")
	b := journal.Batch{Records: []journal.Record{chain.Next(t, "one")}}
	b.Artifacts = []journal.Artifact{{Key: floodmark.DigestOf("x"), Session: "s", Seq: 1, Body: []byte("word")}}
	if err := j.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	found, err := j.Artifacts(t.Context(), "", []floodmark.Digest{floodmark.DigestOf("x")})
	if err != nil || len(found) != 1 || string(found[0].Body) != "word" {
		t.Errorf("%v %v", found, err)
	}
}
