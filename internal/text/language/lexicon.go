package language

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

//go:embed words/*.yaml
var wordFiles embed.FS

// A Lexicon knows the words with which owners ask for something. It is
// immutable and safe for use by many goroutines. The nil Lexicon understands
// nothing, so nothing is asked for.
type Lexicon struct {
	english func() *grammar
	others  func() []*tongue
}

// NewLexicon returns the words that come with the program. They are read when
// they are first needed.
func NewLexicon() *Lexicon {
	return &Lexicon{english: sync.OnceValue(func() *grammar {
		g := &grammar{}
		readWords("words/en.yaml", g)
		return g
	}), others: sync.OnceValue(func() []*tongue {
		var list []*tongue
		for _, name := range [...]string{"de", "es", "zh"} {
			t := &tongue{}
			readWords("words/"+name+".yaml", t)
			t.prepare()
			list = append(list, t)
		}
		return list
	})}
}

// readWords reads a file of words. It panics if it cannot, because the files are
// part of the program.
func readWords(name string, into any) {
	text, err := wordFiles.ReadFile(name)
	if err == nil {
		dec := yaml.NewDecoder(bytes.NewReader(text))
		dec.KnownFields(true)
		err = dec.Decode(into)
	}
	if err != nil {
		panic(fmt.Sprintf("read %s: %v", name, err))
	}
}

// grammar returns the English words, or none.
func (l *Lexicon) grammar() *grammar {
	if l == nil {
		return &grammar{}
	}
	return l.english()
}

// tongues returns the other languages, or none.
func (l *Lexicon) tongues() []*tongue {
	if l == nil {
		return nil
	}
	return l.others()
}

// notEnglish reports whether a sentence has a word by which another language is
// recognised. Words in it that look English may be of that language: «Post»,
// «Mail», «list».
func (l *Lexicon) notEnglish(items []item) bool {
	for i, it := range items {
		word := plainWord(it)
		if word == "" || it.Kind == tokens.Name || tokens.Connects(word) && joinsNames(items, i) {
			continue
		}
		if slices.ContainsFunc(l.tongues(), func(t *tongue) bool { return t.Marks.has(word) || t.Denies.has(word) }) || isHan(it) {
			return true
		}
	}
	return false
}

// month returns the month that a word names in any language, or 0.
func (l *Lexicon) month(word string) time.Month {
	if m := l.grammar().Months.of(word); m != 0 {
		return m
	}
	for _, t := range l.tongues() {
		if m := t.Months.of(word); m != 0 {
			return m
		}
	}
	return 0
}

// Small reports whether a word is too common to name a field.
func (l *Lexicon) Small(word string) bool { return l.grammar().Small.has(word) }

// Listed returns the fields in which services list what they have, such as channels.
func (l *Lexicon) Listed() []string { return l.grammar().Listed }

// Writers returns the fields in which services name those who wrote something.
func (l *Lexicon) Writers() []string { return l.grammar().Writers }

// A grammar is the English that is understood. words/en.yaml says what each
// list means.
type grammar struct {
	Asks, Headings, Greetings, Fillers, Polite         set
	Joints, Openers                                    []string
	GerundOpeners                                      set `yaml:"gerundOpeners"`
	AfterNoun                                          set `yaml:"afterNoun"`
	AfterThing                                         set `yaml:"afterThing"`
	Things                                             set
	BeforeNoun                                         set `yaml:"beforeNoun"`
	BeforeVerb                                         set `yaml:"beforeVerb"`
	Asides, Reports, Denies, Stops, Tells, Means, Past set
	Assents                                            []string
	AssentsWith                                        []string `yaml:"assentsWith"`
	OpensClause                                        set      `yaml:"opensClause"`
	SomeoneElse                                        set      `yaml:"someoneElse"`
	TakesBack                                          set      `yaml:"takesBack"`
	Points                                             set
	CalledIs                                           set `yaml:"calledIs"`
	CalledTo                                           set `yaml:"calledTo"`
	CalledAddress                                      set `yaml:"calledAddress"`
	NotAmount                                          set `yaml:"notAmount"`
	OwnsTarget                                         set `yaml:"ownsTarget"`
	EndsList                                           set `yaml:"endsList"`
	RelatesTo                                          set `yaml:"relatesTo"`
	RelatesLoosely                                     set `yaml:"relatesLoosely"`
	RelatesAway                                        set `yaml:"relatesAway"`
	Determiners, Small                                 set
	Months                                             months
	DayEndings                                         []string `yaml:"dayEndings"`
	Superlatives                                       []Superlative
	Listed, Writers                                    []string
	Doing, Deeds, Messages, Retells                    set
	BeginsWith                                         set `yaml:"beginsWith"`
	Personal, Mine, Theirs, Us                         set
	Reading                                            []string
	LinkNouns                                          set `yaml:"linkNouns"`
	Posted                                             set
	Defers, Waits                                      []string
	Times, Beside, Inside, Within, Links               set
	Places, Objects, Articles, Nouns, Modifies         set
	Refers, Subjects, Spots                            set
}

// A set is a list of words that is made for looking up words.
type set map[string]struct{}

// UnmarshalYAML reads a list.
func (s *set) UnmarshalYAML(n *yaml.Node) error {
	var list []string
	if err := n.Decode(&list); err != nil {
		return err
	}
	*s = make(set, len(list))
	for _, word := range list {
		(*s)[word] = struct{}{}
	}
	return nil
}

func (s set) has(word string) bool {
	_, ok := s[word]
	return ok
}

// A Superlative is a word with which people choose one of many, and the fields
// it is about.
type Superlative struct {
	Words, Fields []string
	Most          bool
}

// Superlatives returns the words with which people choose one of many.
func (l *Lexicon) Superlatives() []Superlative { return l.grammar().Superlatives }
