package policyfile

import (
	"slices"
	"time"

	"github.com/floodmark/floodmark"
)

// A shape says what is allowed at one place of the policy language. The reader
// checks files by shapes and [Schema] prints them, so the two cannot differ.
type shape struct {
	kind  shapeKind
	noun  string // what a person calls it: «a verdict»
	about string // one sentence for editors
	keys  []key  // of a mapping: all that are allowed
	// keyWords are the names a named mapping may use; nil means any.
	keyWords []string
	item     *shape   // of a list, or of every value in a named mapping
	words    []string // of a word
	low      int      // the least number, or the fewest items
	high     int      // the largest number, the most items, the most bytes
	// shortest and longest bound a span of time.
	shortest, longest time.Duration
	forms             []*shape // of an either: told apart by how they are written
}

// A shapeKind says how a value is written.
type shapeKind uint8

const (
	mapping shapeKind = iota // known keys
	named                    // keys a person chooses, values of one shape
	list
	word // one of a few
	text
	whole // a whole number
	flag
	span  // a length of time: 30s, 5m
	clock // a time of day: 22:00
	day   // a day: 2026-12-31
	either
	foreign // a list whose items another package reads
)

// A key is one known name in a mapping.
type key struct {
	name  string
	shape *shape
	need  bool  // must be there
	in    Scope // the sections that may have it; zero means wherever its mapping may be
}

// A Scope is a set of places in the layers.
type Scope uint8

// The places that a part of a policy may have.
const (
	InProfile Scope = 1 << iota // a shipped profile
	InUser                      // the user's file
	InProject                   // a project's file
	InAgent                     // below agents, in the user's file
)

// The limits of a policy file. A large hand-written one has about 500 lines.
const (
	MaxBytes  = 1 << 20
	maxDepth  = 16
	maxNodes  = 50_000
	MaxItems  = 1000 // items of a list, keys of a mapping
	MaxText   = 4096 // bytes of one text
	MaxErrors = 50
	// MaxCondition bounds the bytes of a condition in CEL.
	MaxCondition     = 4096
	maxStandingCount = 64
)

func levelWords() []string {
	words := make([]string, 0, floodmark.System+1)
	for t := floodmark.System; ; t-- {
		words = append(words, t.String())
		if t == floodmark.Untrusted {
			return words
		}
	}
}

// EffectWords returns the effects, as a policy writes them.
func EffectWords() []string {
	words := make([]string, 0, floodmark.Observe+1)
	for e := floodmark.Admin; e <= floodmark.Observe; e++ {
		words = append(words, e.String())
	}
	return words
}

func verdictWords(most floodmark.Verdict) []string {
	words := make([]string, 0, floodmark.Allow+1)
	for v := floodmark.Restrict; v <= most; v++ {
		words = append(words, v.String())
	}
	return words
}

// answerWords returns the words for the verdicts up to most, and those that want a box.
func answerWords(most floodmark.Verdict) []string {
	return slices.Insert(verdictWords(most), int(floodmark.Allow), ElseAudit, floodmark.Contain)
}

func flowWords() []string {
	return []string{
		string(floodmark.FlowSecret), string(floodmark.FlowPrivate), string(floodmark.FlowFetch), string(floodmark.ActiveContent),
	}
}

// ProfileWords returns the names of the shipped profiles.
func ProfileWords() []string { return []string{"assistant", "coding", "strict", "dry-run"} }

// standingTrust returns the levels that a policy may give a place or a group for good.
func standingTrust() []string {
	return []string{floodmark.Shared.String(), floodmark.External.String(), floodmark.Untrusted.String()}
}

// The nouns of the two mappings whose keys are those of the language itself.
const (
	policyNoun  = "a policy"
	sectionNoun = "the section of an agent"
)

// policyShape returns the shape of the whole language.
func policyShape() *shape {
	const everywhere = InProfile | InUser | InProject | InAgent
	const owner = InProfile | InUser
	agents := &shape{
		kind: named, noun: "agents by name", high: MaxItems,
		about: "What holds for one agent only. It can only tighten.",
	}
	top := &shape{kind: mapping, noun: policyNoun, about: "A Floodmark policy.", keys: []key{
		{name: "version", need: true, in: InProfile | InUser | InProject, shape: &shape{
			kind: whole, noun: "the version of the language", about: "The version of this language: 1.", low: 1, high: 1,
		}},
		{name: "profile", in: InUser, shape: &shape{
			kind: word, noun: "a profile", about: "The shipped profile this policy starts from.", words: ProfileWords(),
		}},
		{name: "table", in: owner, shape: tableShape()},
		{name: "taintPolicy", in: everywhere, shape: levelsShape("One verdict per trust level, for every effect but observe and fetch.", false)},
		{name: "toolOverrides", in: everywhere, shape: &shape{
			kind: named, noun: "tools by name", high: MaxItems,
			about: "Verdicts for single tools, by «tool», «server/tool» or «server/*»; «*» stands for every level. They replace the table.",
			item:  levelsShape("Verdicts by trust level.", true),
		}},
		{name: "rules", in: everywhere, shape: &shape{kind: list, noun: "a list of rules", about: "Conditions that tighten.", high: MaxItems, item: ruleShape()}},
		{name: "flows", in: owner, shape: flowsShape()},
		{name: "workspace", in: InUser, shape: &shape{
			kind: list, noun: "a list of paths", about: "The owner's own paths: what is read there is local.", high: MaxItems, item: textShape("a path pattern"),
		}},
		{name: "sources", in: InUser, shape: sourcesShape()},
		{name: "groups", in: InUser, shape: &shape{
			kind: named, noun: "groups by name", about: "Groups whose history the owner trusts.", high: MaxItems,
			item: &shape{kind: word, noun: "a trust level of at most shared", words: standingTrust()},
		}},
		{name: "approvals", in: owner, shape: approvalsShape()},
		{name: "standing", in: InUser, shape: standingShape()},
		{name: "relax", in: owner, shape: &shape{kind: flag, about: "Whether arguments the owner stated may raise a call's trust."}},
		{name: "stopUnseen", in: owner, shape: &shape{
			kind: flag, about: "Whether a session in which a call ran that nobody had allowed may call nothing any more; «floodmark journal coverage» finds such calls.",
		}},
		{name: "maxIterations", in: owner | InAgent, shape: &shape{kind: whole, noun: "a number of rounds", about: "Rounds of the agent's loop after which a turn ends.", low: 1, high: 10_000}},
		{name: "choices", in: owner | InProject, shape: choicesShape()},
		{name: "auditor", in: owner, shape: auditorShape()},
		{name: "verifiers", in: InUser | InAgent, shape: verifiersShape()},
		{name: "caution", in: InUser, shape: &shape{
			kind: named, noun: "tools by name", about: "Tools whose results are untrusted.", high: MaxItems, item: &shape{kind: flag},
		}},
		{name: "tools", in: InUser, shape: &shape{
			kind: foreign, noun: "a list of tools", high: MaxItems,
			about: "What your own tools are, in the language of the catalog, each with «agent» or «server».",
		}},
		{name: "agents", in: InUser, shape: agents},
		{name: "enforce", in: InProfile, shape: &shape{kind: flag}},
		{name: "freeContent", in: InProfile, shape: &shape{kind: word, noun: "audit or inert", words: []string{"audit", "inert"}}},
		{name: "fetchSteered", in: InProfile, shape: verdictShape(floodmark.Allow)},
		{name: "planted", in: InProfile, shape: verdictShape(floodmark.Allow)},
		{name: "projectTrust", in: InProfile, shape: &shape{kind: word, noun: "local or external", words: []string{"local", "external"}}},
	}}
	agents.item = top.only(InAgent)
	agents.item.noun = sectionNoun
	return top
}

// only returns the mapping with only the keys of a scope, so that the schema and the
// hints offer no others.
func (s *shape) only(in Scope) *shape {
	narrowed := *s
	narrowed.keys = nil
	for _, k := range s.keys {
		if k.in == 0 || k.in&in != 0 {
			narrowed.keys = append(narrowed.keys, k)
		}
	}
	return &narrowed
}

func (s *shape) find(name string) (key, bool) {
	i := slices.IndexFunc(s.keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return s.keys[i], true
}

func (s *shape) names() []string {
	names := make([]string, len(s.keys))
	for i, k := range s.keys {
		names[i] = k.name
	}
	return names
}

// ElseAudit is like contain, but a call that cannot be boxed goes to the auditor, not to a person.
const ElseAudit = floodmark.Contain + "-else-audit"
