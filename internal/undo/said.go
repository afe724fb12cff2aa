package undo

import (
	"encoding/json"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
)

// maxSaid is how many bytes of what was said are kept for a call.
const maxSaid = 1 << 19

// A Said holds sessions' words on files when a call replaced them. The zero value says that they
// are unknown.
type Said struct {
	// Since is the last entry of the session's journal before the call was judged.
	Since uint64 `json:"since,omitempty"`
	// Known says that Words are all there was.
	Known bool `json:"known,omitempty"`
	// Much says that they were too many to be kept: then all may be of little trust.
	Much  bool   `json:"much,omitempty"`
	Words []Word `json:"words,omitempty"`
	// Sources are those that words name: many were made from the same.
	Sources []floodmark.Source `json:"sources,omitempty"`
}

// A Word is one session's, with its sources by their place in [Said].
type Word struct {
	Ref     floodmark.ArtifactRef       `json:"ref"`
	Version floodmark.ArtifactVersion   `json:"version"`
	Whole   bool                        `json:"whole,omitempty"`
	Over    []floodmark.ArtifactVersion `json:"over,omitempty"`
	Sources []int                       `json:"sources,omitempty"`
}

// Saying stores some words. If they are too many, they count as unknown.
func Saying(since uint64, words []kernel.Kept) Said {
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
func (s Said) Kept() (words []kernel.Kept, known bool) {
	for _, w := range s.Words {
		k := kernel.Kept{Version: w.Version, Artifact: floodmark.Artifact{Ref: w.Ref, Whole: w.Whole, Over: w.Over}}
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
