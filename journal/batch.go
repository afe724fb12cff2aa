package journal

import (
	"errors"
	"fmt"
)

// Check refuses a batch that no journal may accept: over a limit, empty, or out of order. Every
// implementation calls it first.
func (b Batch) Check() error {
	if len(b.Records) == 0 {
		return errors.New("journal: an empty batch")
	}
	if len(b.Records) > MaxRecords {
		return fmt.Errorf("%w: %d records, at most %d", ErrTooLarge, len(b.Records), MaxRecords)
	}
	entries, bytes := 0, 0
	for i, r := range b.Records {
		if err := r.check(); err != nil {
			return err
		}
		for _, other := range b.Records[:i] {
			if other.Session == r.Session {
				return fmt.Errorf("journal: session %s twice in a batch", r.Session)
			}
		}
		entries += len(r.Entries)
		bytes += len(r.Snapshot)
		for _, e := range r.Entries {
			bytes += len(e.Body)
		}
	}
	if len(b.Contents) > MaxEntries {
		return fmt.Errorf("%w: %d contents, at most %d", ErrTooLarge, len(b.Contents), MaxEntries)
	}
	for _, c := range b.Contents {
		if len(c.Tenant) > MaxTenantBytes {
			return fmt.Errorf("%w: a tenant's name has at most %d bytes", ErrTooLarge, MaxTenantBytes)
		}
		bytes += len(c.Postings)
	}
	more, err := b.checkArtifacts()
	if err != nil {
		return err
	}
	bytes += more
	if entries > MaxEntries || bytes > MaxBatchBytes {
		return fmt.Errorf("%w: %d entries of %d bytes, at most %d of %d", ErrTooLarge, entries, bytes, MaxEntries, MaxBatchBytes)
	}
	return nil
}

func (r Record) check() error {
	if r.Session.ID == "" || len(r.Session.ID) > MaxSessionBytes || len(r.Session.Tenant) > MaxTenantBytes {
		return fmt.Errorf("%w: a session's name has 1 to %d bytes, its tenant at most %d", ErrTooLarge, MaxSessionBytes, MaxTenantBytes)
	}
	if len(r.Entries) == 0 {
		return fmt.Errorf("journal: nothing to append to session %s", r.Session)
	}
	prev := r.After
	for _, e := range r.Entries {
		want := prev.Hash
		if prev.Seq == 0 {
			want = Genesis(r.Session)
		}
		if e.Seq != prev.Seq+1 || e.Prev != want {
			return fmt.Errorf("journal: entry %d of session %s does not follow the one before", e.Seq, r.Session)
		}
		prev = e.Link()
	}
	return nil
}
