// Package journaltest holds the suite that every journal must pass. It tests neither speed nor
// power loss.
package journaltest

import (
	"testing"

	"github.com/floodmark/floodmark/journal"
)

// Options say how the journal under test is opened.
type Options struct {
	// Open returns a new, empty journal. The suite closes it.
	Open func(t *testing.T) journal.Journal
	// Reopen closes a journal and opens it again. It is nil for a journal without storage.
	Reopen func(t *testing.T, j journal.Journal) journal.Journal
	// Lose is Reopen, but removes the artifacts from the store in between. It is nil if the store
	// does not allow that.
	Lose func(t *testing.T, j journal.Journal) journal.Journal
}

// Run checks a journal. Each call of open returns a new, empty one.
func Run(t *testing.T, open func(t *testing.T) journal.Journal) {
	t.Helper()
	RunWith(t, Options{Open: open})
}

// RunWith checks a journal.
func RunWith(t *testing.T, o Options) {
	t.Helper()
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			j := o.Open(t)
			t.Cleanup(func() {
				if err := j.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.run(t, j)
		})
	}
	if o.Reopen == nil {
		return
	}
	for _, c := range lasting() {
		t.Run(c.name, func(t *testing.T) { c.run(t, o) })
	}
}

type testCase struct {
	name string
	run  func(t *testing.T, j journal.Journal)
}

func cases() []testCase {
	return []testCase{
		{"read back", readBack},
		{"read a long session", readLong},
		{"a session nobody wrote", readNothing},
		{"names are kept apart", namesApart},
		{"what was given is copied", givenIsCopied},
		{"expected sequence", expectedSequence},
		{"gaps are refused", gapsRefused},
		{"malformed batches are refused", malformedRefused},
		{"the same again", sameAgain},
		{"one winner per race", oneWinner},
		{"racing with the same", sameRace},
		{"all or nothing", allOrNothing},
		{"contents", contents},
		{"contents of a refused batch", contentsRefused},
		{"artifacts", artifacts},
		{"artifacts of a refused batch", artifactsRefused},
		{"artifacts of two writers", artifactsOfTwo},
		{"artifacts that may not be", artifactsWrong},
		{"no artifact is missed that is rightly gone", artifactsMissed},
		{"limits", limits},
		{"snapshots", snapshots},
		{"erase needs the last entry", eraseConflict},
		{"erase", erase},
		{"snapshots do not hide a tombstone", stoneStays},
		{"heads", heads},
		{"heads after erase", headsErased},
		{"heads of many", headsMany},
		{"recent", recent},
		{"a context that has ended", endedContext},
		{"contexts that end any time", endingContexts},
		{"closed", closed},
		{"close waits", closeWaits},
		{"many at once", manyAtOnce},
	}
}

type lastingCase struct {
	name string
	run  func(t *testing.T, o Options)
}

func lasting() []lastingCase {
	return []lastingCase{
		{"survives reopening", survives},
		{"artifacts survive reopening", artifactsSurvive},
		{"lost artifacts are noticed", artifactsLost},
		{"marks survive reopening", marksSurvive},
		{"acknowledged before close", acknowledgedSurvives},
	}
}
