package undo

import (
	"encoding/json"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// maxSaid bounds the bytes of the words that are kept for a call.
const maxSaid = 1 << 19

// A Said holds the records (words) that sessions had left about files when a call replaced them.
// The zero value means that they are unknown.
type Said struct {
	// Since is the last entry of the session's journal before the call was judged.
	Since uint64 `json:"since,omitempty"`
	// Known says that Words are complete.
	Known bool `json:"known,omitempty"`
	// Much says that there were too many words to keep. Then all files are treated as of little
	// trust.
	Much  bool   `json:"much,omitempty"`
	Words []Word `json:"words,omitempty"`
	// Sources are the sources of the words. They are listed once here, because many words have the
	// same.
	Sources []floodmark.Source `json:"sources,omitempty"`
}

// A Word is the record of one session about one file. Sources are indexes into the sources of
// [Said].
type Word struct {
	Ref     floodmark.ArtifactRef       `json:"ref"`
	Version floodmark.ArtifactVersion   `json:"version"`
	Whole   bool                        `json:"whole,omitempty"`
	Over    []floodmark.ArtifactVersion `json:"over,omitempty"`
	Sources []int                       `json:"sources,omitempty"`
}

// Saying packs words into a Said. If they are too many, only that is recorded.
func Saying(since uint64, words []artifact.Kept) Said {
	if since == 0 {
		return Said{}
	}
	s := Said{Since: since, Known: true}
	at := map[string]int{}
	for _, k := range words {
		w := Word{Ref: k.Ref, Version: k.Version, Whole: k.Whole, Over: k.Over}
		for _, source := range k.Sources {
			text, err := json.Marshal(source)
			if err != nil {
				return Said{}
			}
			i, known := at[string(text)]
			if !known {
				i = len(s.Sources)
				at[string(text)], s.Sources = i, append(s.Sources, source)
			}
			w.Sources = append(w.Sources, i)
		}
		s.Words = append(s.Words, w)
	}
	data, err := json.Marshal(s)
	switch {
	case err != nil:
		return Said{}
	case len(data) > maxSaid:
		return Said{Much: true}
	}
	return s
}

// Kept returns the words, and whether they are complete.
func (s Said) Kept() (words []artifact.Kept, known bool) {
	for _, w := range s.Words {
		k := artifact.Kept{Version: w.Version, Artifact: floodmark.Artifact{Ref: w.Ref, Whole: w.Whole, Over: w.Over}}
		for _, i := range w.Sources {
			if i < 0 || i >= len(s.Sources) {
				return nil, false
			}
			k.Sources = append(k.Sources, s.Sources[i])
		}
		words = append(words, k)
	}
	return words, s.Known && s.Since > 0
}
