package intent

import (
	"slices"

	"github.com/floodmark/floodmark/internal/text/language"
)

// Readings are a cache of how the owner's messages were read, so that they are not
// read again for every call. They never change a result. They belong to one session
// and the caller that judges it. The zero Readings are empty.
type Readings struct {
	words *language.Lexicon // with which the texts were read
	texts []*reading        // the newest last
}

// maxReadings bounds how many messages are remembered: those of a turn.
const maxReadings = 4

// MaxRead is the length of the longest message that is remembered, in bytes.
const MaxRead = 4096

// The memory that a reading takes, measured and rounded up: a fixed part, and a part for each byte
// that was read.
const (
	readingBytes = 2 << 10
	readFactor   = 72
)

// Size returns roughly how many bytes of memory they take.
func (rs *Readings) Size() (n int64) {
	for _, r := range rs.texts {
		n += readingBytes + readFactor*int64(len(r.text))
	}
	return n
}

// A reading is one message of the owner. Each part is made when it is first
// asked for, and never changed.
type reading struct {
	text     string
	requests []*language.Request
	parted   bool // requests is filled
	assents  bool
	heard    bool // assents is known
	stated   *language.Stated
}

// reading returns what is remembered of a message. It forgets all messages if the session has
// another lexicon now.
func (s *Session) reading(text string) *reading {
	rs := s.Read
	if rs == nil || len(text) > MaxRead {
		return &reading{text: text}
	}
	if rs.words != s.Words {
		rs.words, rs.texts = s.Words, nil
	}
	if i := slices.IndexFunc(rs.texts, func(r *reading) bool { return r.text == text }); i >= 0 {
		return rs.texts[i]
	}
	r := &reading{text: text}
	if len(rs.texts) == maxReadings {
		rs.texts = slices.Delete(rs.texts, 0, 1)
	}
	rs.texts = append(rs.texts, r)
	return r
}

// requests returns the clauses of a message of the owner.
func (s *Session) requests(text string) []*language.Request {
	r := s.reading(text)
	if !r.parted {
		r.requests, r.parted = s.Words.Requests(text), true
	}
	return r.requests
}

// assents reports whether a message of the owner only says yes.
func (s *Session) assents(text string) bool {
	r := s.reading(text)
	if !r.heard {
		r.assents, r.heard = s.Words.Assents(text), true
	}
	return r.assents
}

// statedIn returns what the owner stated in some messages. Callers must not add to it.
func (s *Session) statedIn(texts []string) *language.Stated {
	if len(texts) == 1 {
		r := s.reading(texts[0])
		if r.stated == nil {
			r.stated = &language.Stated{}
			r.stated.Add(texts[0])
		}
		return r.stated
	}
	all := &language.Stated{}
	for _, text := range texts {
		all.Add(text)
	}
	return all
}
