package kernel

import (
	"slices"

	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// Readings remember how the owner's words were read and what rules said of sources, so
// that neither is done again for every call. What they give is what doing it again would
// give. They belong to one session and to whoever judges it; the zero Readings
// have read nothing.
type Readings struct {
	words *provenance.Lexicon // by which they were read
	texts []*reading          // the newest last

	// counts are what rules over sources answered so far, by this policy.
	counts provenance.Counts
	policy *policy.Policy
}

// What is remembered: the messages of a turn, unless they are long.
const (
	maxReadings  = 4
	maxReadBytes = 4096
)

// What a reading takes in memory, measured and rounded up: by itself, and for
// each byte that was read.
const (
	readingBytes = 2 << 10
	readFactor   = 72
)

// Size is about what they take in memory.
func (rs *Readings) Size() int64 {
	if rs == nil {
		return 0
	}
	n := rs.counts.Size()
	for _, r := range rs.texts {
		n += readingBytes + readFactor*int64(len(r.text))
	}
	return n
}

// A reading is one message of the owner. Each part is made when it is first
// asked for, and never changed.
type reading struct {
	text     string
	requests []*provenance.Request
	parted   bool // requests are there
	assents  bool
	heard    bool // assents is known
	stated   *provenance.Stated
	shown    string
	veiled   bool // shown is there
}

// reading returns what is known of a message. Under other rules nothing is.
func (st *step) reading(text string) *reading {
	rs := st.in.Readings
	if rs == nil || len(text) > maxReadBytes {
		return &reading{text: text}
	}
	if rs.words != st.r.words {
		rs.words, rs.texts = st.r.words, nil
	}
	if i := slices.IndexFunc(rs.texts, func(r *reading) bool { return r.text == text }); i >= 0 {
		return rs.texts[i]
	}
	r := &reading{text: text}
	rs.texts = last(append(rs.texts, r), maxReadings)
	return r
}

// sources are the session's live sources, as rules see them.
func (st *step) sources() policy.Sources {
	s, rs := policy.Sources{Ledger: &st.s.Ledger}, st.in.Readings
	if rs != nil {
		if rs.policy != st.r.Policy {
			rs.policy, rs.counts = st.r.Policy, provenance.Counts{}
		}
		s.Counts = &rs.counts
	}
	return s
}

// requests are the clauses of a message of the owner.
func (st *step) requests(text string) []*provenance.Request {
	r := st.reading(text)
	if !r.parted {
		r.requests, r.parted = st.r.words.Requests(text), true
	}
	return r.requests
}

// assents reports whether a message of the owner only says yes.
func (st *step) assents(text string) bool {
	r := st.reading(text)
	if !r.heard {
		r.assents, r.heard = st.r.words.Assents(text), true
	}
	return r.assents
}

// statedIn is what the owner stated in some messages. Nobody may add to it.
func (st *step) statedIn(texts []string) *provenance.Stated {
	if len(texts) == 1 {
		r := st.reading(texts[0])
		if r.stated == nil {
			r.stated = &provenance.Stated{}
			r.stated.Add(texts[0])
		}
		return r.stated
	}
	all := &provenance.Stated{}
	for _, text := range texts {
		all.Add(text)
	}
	return all
}
