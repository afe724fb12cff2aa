package artifact

import (
	"cmp"
	"maps"
	"slices"

	"github.com/floodmark/floodmark"
)

func vouchRef(d floodmark.Digest) floodmark.ArtifactRef {
	return floodmark.ArtifactRef{Kind: floodmark.VouchArtifact, Name: d.String()}
}

// words returns the records of what the owner last said of contents, in any session. If two are of
// the same time, the one that trusts less is taken.
func (b *Book) words(digests []floodmark.Digest) map[floodmark.Digest]Kept {
	var refs []floodmark.ArtifactRef
	for _, d := range digests {
		if !d.IsZero() {
			refs = append(refs, vouchRef(d))
		}
	}
	last := map[floodmark.Digest]Kept{}
	for _, k := range b.find(refs...) {
		var d floodmark.Digest
		if k.Vouch == nil || d.UnmarshalText([]byte(k.Ref.Name)) != nil {
			continue
		}
		old, ok := last[d]
		if !ok || cmp.Or(cmp.Compare(old.Vouch.At, k.Vouch.At), cmp.Compare(k.Vouch.Trust, old.Vouch.Trust)) < 0 {
			last[d] = k
		}
	}
	return last
}

// vouched returns what the owner vouches for among some contents.
func (b *Book) vouched(digests []floodmark.Digest) map[floodmark.Digest]floodmark.Vouch {
	yes := map[floodmark.Digest]floodmark.Vouch{}
	for d, k := range b.words(digests) {
		if k.Vouch.Trust > floodmark.External {
			yes[d] = *k.Vouch
		}
	}
	return yes
}

// Say records for every session what the owner says of a content, at a time. It replaces what they
// said of the content before, in whatever session.
func (b *Book) Say(d floodmark.Digest, trust floodmark.Trust, by string, at int64) Changes {
	ref := vouchRef(d)
	for _, k := range b.find(ref) {
		if k.Version.Session != b.Session {
			b.Done.Gone = append(b.Done.Gone, Gone{Ref: ref, Version: k.Version})
		}
		if k.Vouch != nil {
			at = max(at, k.Vouch.At+1) // clocks of two machines may differ
		}
	}
	b.Done.Artifacts = append(b.Done.Artifacts, floodmark.Artifact{Ref: ref, Vouch: &floodmark.Vouch{Trust: trust, By: by, At: at}})
	return b.Done
}

// Heard returns the facts that make a session agree with what the owner last said of contents.
func (b *Book) Heard(digests []floodmark.Digest) []floodmark.Fact {
	words, have := b.words(digests), b.Endorsed()
	var facts []floodmark.Fact
	digests = slices.SortedFunc(maps.Keys(words), func(a, b floodmark.Digest) int { return slices.Compare(a[:], b[:]) })
	for _, d := range digests {
		k := words[d]
		endorsed := slices.ContainsFunc(have, func(e floodmark.Endorsed) bool { return e.Digest == d })
		yes := k.Vouch.Trust > floodmark.External
		switch {
		case yes && !endorsed:
			facts = append(facts, floodmark.Endorsed{Digest: d, Trust: k.Vouch.Trust, By: k.Vouch.By, Session: k.Version.Session})
		case !yes && endorsed:
			facts = append(facts, floodmark.Withdrawn{Digest: d, By: k.Vouch.By, Session: k.Version.Session})
		}
	}
	return facts
}

// Endorsed returns what the owner vouches for, including what this event wrote down.
func (b *Book) Endorsed() []floodmark.Endorsed {
	list := b.Ledger.Endorsements()
	for _, f := range b.Done.Facts {
		if e, ok := f.(floodmark.Endorsed); ok {
			list = append(list, e)
		}
	}
	return list
}
