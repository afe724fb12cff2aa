package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/internal/store/witness"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/provenance"
)

// How a store of many sessions is made.
const (
	// wave is how many sessions are written at the same time, event by event. The entries
	// of one session are therefore far apart in the file, as they are in a real store.
	wave = 10_000
	// longEvery says that one session of so many is long. A long session has snapshots.
	longEvery = 500
	// longCalls is how many calls a long session has.
	longCalls = 100
	// sharedPage is how many sessions read the same second page.
	sharedPage = 100
)

// long reports whether session i is a long one.
func long(i int) bool { return i%longEvery == longEvery-1 }

// A generator writes sessions as the monitor would have written them. It copies one recorded
// session and gives each copy its own names, digests, indexes and hashes.
type generator struct {
	journal journal.Journal
	rules   config.Rules
	key     provenance.Key
	name    floodmark.SessionID // of the recorded session
	life    []journal.Batch
}

// generate makes an installation that knows n sessions.
func generate(ctx context.Context, dir string, n int) (err error) {
	paths := config.DirPaths(dir)
	keys, err := config.LoadKeys(paths.Keys, "floodmark/journal")
	if err != nil {
		return err
	}
	g := &generator{key: keys.Index, name: sessionName(9_999_999)}
	// A session is one turn with more rounds than the shipped cap allows.
	if err := errors.Join(os.MkdirAll(filepath.Dir(paths.Policy), 0o700), os.WriteFile(paths.Policy, []byte("version: 1\nmaxIterations: 10000\n"), 0o600)); err != nil {
		return err
	}
	if g.rules, err = config.LoadRules(paths.Policy); err != nil {
		return err
	}
	if g.life, err = usualMix().record(ctx, g.rules.Rules, g.key, g.name, 1); err != nil {
		return err
	}
	j, err := sqlitejournal.Open(ctx, paths.Journal, sqlitejournal.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	g.journal = j
	heads, err := witness.Open(paths.Witness)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, heads.Close()) }()
	signs := &journal.Checkpointer{Journal: j, Log: heads, Key: keys.Signing}
	for first := 0; first < n; first += wave {
		if err := g.wave(ctx, first, min(wave, n-first)); err != nil {
			return fmt.Errorf("sessions from %d on: %w", first, err)
		}
		for more := true; more; {
			step, err := signs.Step(ctx, time.Now())
			if err != nil {
				return err
			}
			more = step.More
		}
		if first%(10*wave) == 0 {
			fmt.Fprintf(os.Stderr, "%s %d sessions of %d\n", time.Now().Format(time.TimeOnly), first+wave, n)
		}
	}
	return nil
}

// wave writes n sessions at the same time.
func (g *generator) wave(ctx context.Context, first, n int) error {
	all := make([]session, n)
	err := each(n, func(i int) error {
		return g.prepare(&all[i], first+i)
	})
	if err != nil {
		return err
	}
	for event := range g.life {
		err := each((n+journal.MaxRecords-1)/journal.MaxRecords, func(part int) error {
			b := journal.Batch{}
			for i := part * journal.MaxRecords; i < min((part+1)*journal.MaxRecords, n); i++ {
				if !long(first + i) {
					g.add(&b, event, &all[i])
				}
			}
			return g.journal.Append(ctx, b)
		})
		if err != nil {
			return err
		}
	}
	return g.longOnes(ctx, first, n)
}

// longOnes writes the long sessions of a wave, which a real monitor judges.
func (g *generator) longOnes(ctx context.Context, first, n int) error {
	return each(n, func(i int) error {
		if !long(first + i) {
			return nil
		}
		batches, err := usualMix().record(ctx, g.rules.Rules, g.key, sessionName(first+i), longCalls)
		if err != nil {
			return err
		}
		for _, b := range merged(batches) {
			if err := g.journal.Append(ctx, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// each calls f for all numbers below n, several at once.
func each(n int, f func(i int) error) error {
	numbers := make(chan int, n)
	for i := range n {
		numbers <- i
	}
	close(numbers)
	return together(8, func() error {
		for i := range numbers {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// A session is a session that is being written.
type session struct {
	name  journal.Session
	last  journal.Link
	says  changes
	pages [2]journal.Content
}

func (g *generator) prepare(s *session, i int) error {
	s.name = journal.Session{ID: sessionName(i)}
	s.says = changes{{[]byte(g.name), []byte(s.name.ID)}}
	for n := range s.pages {
		old, text := floodmark.DigestOf(page(string(g.name), n)), pageOf(i, n)
		s.pages[n].Digest = floodmark.DigestOf(text)
		s.says = append(s.says, [2][]byte{[]byte(old.String()), []byte(s.pages[n].Digest.String())})
		if n == 1 && i%sharedPage != 0 {
			continue // another session writes its index
		}
		var err error
		if s.pages[n].Postings, err = g.key.Postings(text).MarshalBinary(); err != nil {
			return err
		}
	}
	return nil
}

// add puts one event of a session into a batch.
func (g *generator) add(b *journal.Batch, event int, s *session) {
	r := journal.Record{Session: s.name, After: s.last}
	prev := s.last
	if prev.Seq == 0 {
		prev.Hash = journal.Genesis(s.name)
	}
	from := g.life[event]
	for _, e := range from.Records[0].Entries {
		e.Body = s.says.in(e.Body)
		e.Prev, e.At = prev.Hash, time.Now().UnixNano()
		e.Hash = sum(e)
		prev = e.Link()
		r.Entries = append(r.Entries, e)
	}
	s.last = prev
	b.Records = append(b.Records, r)
	for range from.Contents {
		if c := s.pages[(event-pageEvent)/2]; c.Postings != nil {
			b.Contents = append(b.Contents, c)
		}
	}
}

// pageEvent is the number of the event whose result is the first page.
const pageEvent = 3

// pageOf returns the n-th page that session i read. Page 0 is its own. Page 1 is the same for
// sharedPage sessions.
func pageOf(i, n int) string {
	if n == 0 {
		return page(string(sessionName(i)), n)
	}
	return page(fmt.Sprintf("news-%08d", i/sharedPage), n)
}

// changes are replacements in the recorded facts for one session: pairs of the old text and the
// new one.
type changes [][2][]byte

func (c changes) in(body []byte) []byte {
	body = bytes.Clone(body)
	for _, pair := range c {
		for rest := body; ; {
			at := bytes.Index(rest, pair[0])
			if at < 0 {
				break
			}
			copy(rest[at:], pair[1]) // both texts are equally long
			rest = rest[at+len(pair[0]):]
		}
	}
	return body
}

// sum returns the hash of an entry, as the journal makes it. The daemon refuses a session
// with wrong hashes.
func sum(e journal.Entry) journal.Hash {
	b := make([]byte, 0, 128+len(e.Body))
	b = binary.BigEndian.AppendUint64(b, e.Seq)
	b = binary.BigEndian.AppendUint64(b, uint64(e.At))
	b = append(b, e.Prev[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(e.Kind)))
	b = append(b, e.Kind...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(e.Body)))
	b = append(b, e.Body...)
	return sha256.Sum256(b)
}
