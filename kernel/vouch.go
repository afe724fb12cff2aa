package kernel

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
)

func vouchRef(d floodmark.Digest) floodmark.ArtifactRef {
	return floodmark.ArtifactRef{Kind: floodmark.VouchArtifact, Name: d.String()}
}

// words returns the records of what the owner last said of contents, in any session. If two are of
// the same time, the one that trusts less is taken.
func (st *step) words(digests []floodmark.Digest) map[floodmark.Digest]Kept {
	var refs []floodmark.ArtifactRef
	for _, d := range digests {
		if !d.IsZero() {
			refs = append(refs, vouchRef(d))
		}
	}
	last := map[floodmark.Digest]Kept{}
	for _, k := range st.find(refs...) {
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
func (st *step) vouched(digests []floodmark.Digest) map[floodmark.Digest]floodmark.Vouch {
	yes := map[floodmark.Digest]floodmark.Vouch{}
	for d, k := range st.words(digests) {
		if k.Vouch.Trust > floodmark.External {
			yes[d] = *k.Vouch
		}
	}
	return yes
}

// say records for every session what the owner says of a content. It replaces what they said of the
// content before, in whatever session.
func (st *step) say(d floodmark.Digest, trust floodmark.Trust, by string) {
	ref := vouchRef(d)
	at := st.in.At.UnixNano()
	for _, k := range st.find(ref) {
		if k.Version.Session != st.ev.Session {
			st.out.Gone = append(st.out.Gone, Gone{Ref: ref, Version: k.Version})
		}
		if k.Vouch != nil {
			at = max(at, k.Vouch.At+1) // clocks of two machines may differ
		}
	}
	st.out.Artifacts = append(st.out.Artifacts, floodmark.Artifact{Ref: ref, Vouch: &floodmark.Vouch{Trust: trust, By: by, At: at}})
}

// heed takes in what the owner said in other sessions about what this one
// carries. The facts come first: everything else is judged after them.
func (st *step) heed() error {
	if st.in.Artifacts == nil || !st.s.Opened {
		return nil
	}
	have := st.s.Ledger.Endorsements()
	want := slices.Clone(st.s.Carried)
	for _, e := range have {
		want = append(want, e.Digest)
	}
	if len(want) == 0 {
		return nil
	}
	facts := st.heard(st.words(want), have)
	if len(facts) == 0 {
		return nil
	}
	next, err := st.s.with(facts)
	if err != nil {
		return fmt.Errorf("take in what the owner said elsewhere: %w", err)
	}
	st.s, st.heeded = next, len(facts)
	st.mark, st.more = next.Ledger.Mark(), next.Ledger.Levels()
	for _, f := range facts {
		st.keep(f)
	}
	return nil
}

// with returns a copy of the state after some more facts.
func (s *State) with(facts []floodmark.Fact) (*State, error) {
	data, err := s.Snapshot()
	if err != nil {
		return nil, err
	}
	next, err := Restore(data)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		if err := next.Apply(f); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// heard returns the facts that make a ledger agree with what the owner last said.
func (st *step) heard(words map[floodmark.Digest]Kept, have []floodmark.Endorsed) []floodmark.Fact {
	var facts []floodmark.Fact
	digests := make([]floodmark.Digest, 0, len(words))
	for d := range words {
		digests = append(digests, d)
	}
	slices.SortFunc(digests, func(a, b floodmark.Digest) int { return slices.Compare(a[:], b[:]) })
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
