package journal

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// Evidence is what a journal is verified against.
type Evidence struct {
	// Log is the log of heads; without one only the chains are checked.
	Log HeadLog
	// Keys verify checkpoints and tombstones. Other signatures are ignored.
	Keys note.Verifiers
	// Store is the name the checkpoints must have; empty for any.
	Store string
	// Held are checkpoints kept elsewhere: in a mail, on paper, on another machine. They reveal a
	// log that was rewritten as a whole.
	Held [][]byte
	// Only selects the sessions to verify and report; nil for all.
	Only func(Session) bool
	// Apart says that the journal's writers can write neither the log nor the key. Leave it false
	// if that is not known.
	Apart bool
}

// A FindingKind says what is wrong.
type FindingKind string

// The kinds of findings.
const (
	Changed    FindingKind = "changed"     // an entry is not what was sealed
	Missing    FindingKind = "missing"     // entries within a session are gone
	TailGone   FindingKind = "tail-gone"   // the newest entries of a session are gone
	Gone       FindingKind = "gone"        // a whole session is gone
	Rewritten  FindingKind = "rewritten"   // the chain is valid, but not the one that was signed
	Forged     FindingKind = "forged"      // a tombstone or a checkpoint is not signed by us
	NotErased  FindingKind = "not-erased"  // a tombstone exists, and so do the entries it replaced
	Unreadable FindingKind = "unreadable"  // the journal could not read it
	LogDamaged FindingKind = "log-damaged" // the log of heads is not what was signed
	// ArtifactGone: an artifact that a session left is not stored any more.
	ArtifactGone FindingKind = "artifact-gone"
)

// A Finding is one problem.
type Finding struct {
	Kind    FindingKind
	Session Session // zero if it is about the log of heads
	Seq     uint64  // the entry, or 0
	Text    string  // for people
}

const (
	// MaxFindings bounds what a report lists. It counts all of them.
	MaxFindings = 1000
	// maxSessionFindings bounds what is said about one session.
	maxSessionFindings = 10
	// maxLeavesKept bounds the memory for leaves, about 60 bytes each. A longer log is read several
	// times, each time for a part of the sessions.
	maxLeavesKept = 4 << 20
	// Progress is reported after so many sessions, or entries of one session.
	tellSessions = 4096
	tellEntries  = 50_000
)

// A Report is the result of a verification.
type Report struct {
	Sessions    int64
	Erased      int64 // sessions with a tombstone
	Entries     int64
	Checkpoints int64
	Leaves      int64     // heads in the log, up to the newest checkpoint
	Newest      time.Time // of the newest checkpoint; zero if there is none
	// Unsigned counts the entries after the newest checkpoint. Dropping them from the end would not
	// be noticed.
	Unsigned int64
	Found    int64     // all findings
	Findings []Finding // at most [MaxFindings] of them
	// Worth says, for people, what an empty report proves.
	Worth string
}

// OK reports whether there are no findings.
func (r Report) OK() bool { return r.Found == 0 }

func (r *Report) find(kind FindingKind, s Session, seq uint64, format string, args ...any) {
	r.Found++
	if len(r.Findings) < MaxFindings {
		r.Findings = append(r.Findings, Finding{Kind: kind, Session: s, Seq: seq, Text: fmt.Sprintf(format, args...)})
	}
}

func (r *Report) findLog(kind FindingKind, format string, args ...any) {
	r.find(kind, Session{}, 0, format, args...)
}

// Verify reads a whole journal, verifies every chain, and compares it with the signed checkpoints.
// It may run while others write. The report lists all findings; an error means that not everything
// could be read.
//
// Stored artifacts are compared with their entries. Verify does not look into snapshots, except for
// their position, nor into the index of contents: both can be rebuilt from the entries.
//
// If tell is not nil, it is called from time to time with the report so far.
func Verify(ctx context.Context, j Journal, ev Evidence, tell func(Report)) (Report, error) {
	if tell == nil {
		tell = func(Report) {}
	}
	if ev.Keys == nil {
		ev.Keys = note.VerifierList()
	}
	v := &verification{journal: j, evidence: ev, tell: tell, seed: maphash.MakeSeed(), keep: maxLeavesKept, words: newWords()}
	err := v.run(ctx)
	v.report.Worth = v.worth()
	return v.report, err
}

// A verification is one run of Verify.
type verification struct {
	journal  Journal
	evidence Evidence
	tell     func(Report)
	report   Report
	told     int64 // how many entries when tell was last called

	checkpoints []Checkpoint // the valid ones, by size
	trusted     int64        // how many leaves match a signature
	keep        int64        // how many leaves may be kept in memory

	words  *words // the artifacts that entries record
	newest Mark   // the highest mark of the sessions listed

	seed        maphash.Seed
	part, parts uint64 // this round verifies the sessions of part, out of parts
}

func (v *verification) run(ctx context.Context) error {
	if v.evidence.Log != nil {
		if err := v.readNotes(ctx); err != nil {
			return fmt.Errorf("read the checkpoints: %w", err)
		}
		if err := v.checkTree(ctx); err != nil {
			return fmt.Errorf("read the log of heads: %w", err)
		}
	}
	v.parts = uint64(v.trusted/v.keep) + 1
	for v.part = range v.parts {
		signed, err := v.readLeaves(ctx)
		if err != nil {
			return fmt.Errorf("read the log of heads: %w", err)
		}
		if err := v.checkSessions(ctx, signed); err != nil {
			return err
		}
	}
	if err := v.checkWords(ctx); err != nil {
		return err
	}
	v.tell(v.report)
	return nil
}

// mine reports whether a session is selected and belongs to this round.
func (v *verification) mine(s Session) bool {
	if v.evidence.Only != nil && !v.evidence.Only(s) {
		return false
	}
	return v.parts == 1 || maphash.Comparable(v.seed, s)%v.parts == v.part
}

// checkSessions verifies every session the journal lists, then those that only a checkpoint knows.
func (v *verification) checkSessions(ctx context.Context, signed map[Session]*signedSession) error {
	listed := 0
	for h, err := range v.journal.Heads(ctx, 0) {
		if err != nil {
			return fmt.Errorf("list the sessions: %w", err)
		}
		v.newest = max(v.newest, h.Mark)
		if !v.mine(h.Session) {
			continue
		}
		seen := signed[h.Session]
		if seen == nil {
			seen = &signedSession{}
			signed[h.Session] = seen
		}
		if seen.visited {
			continue
		}
		seen.visited = true
		if err := v.checkSession(ctx, h, seen); err != nil {
			return err
		}
		if listed++; listed%tellSessions == 0 {
			v.tell(v.report)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var lost []Session
	for s, seen := range signed {
		if !seen.visited {
			lost = append(lost, s)
		}
	}
	slices.SortFunc(lost, func(a, b Session) int { return strings.Compare(a.String(), b.String()) })
	for _, s := range lost {
		if err := v.checkSession(ctx, Head{Session: s}, signed[s]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verification) worth() string {
	switch {
	case v.report.Newest.IsZero():
		return "detects changed entries, not lost ones: there is no signed checkpoint"
	case !v.evidence.Apart:
		return "detects damage, not the owner's own rewriting: the log of heads is within reach of whoever can write the journal"
	}
	return fmt.Sprintf("detects damage and rewriting by anybody without the signing key, up to the checkpoint of %s; "+
		"%d newer entries could be dropped from the end unnoticed", minute(v.report.Newest), v.report.Unsigned)
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
