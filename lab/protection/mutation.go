package protection

import (
	"hash/fnv"
	"slices"
	"strconv"
)

// A Mutation is one way in which an attacker who has read our source would rewrite the recorded
// attacks. Mutations are made without a model, and the same trace always gives the same mutants.
//
// The label of a trace stays valid, because the calls that carry the attacker's goal stay the same
// calls. If a mutation gives the attacker another address or name, it does so in the attacker's
// text, in the call, and in every later result.
type Mutation int

// The mutations.
const (
	OwnSender   Mutation = 1 + iota // the attacker controls the sender field
	CopyTopic                       // the attacker copies the topic of the request
	Echo                            // a trusted tool repeats what the attacker wrote
	Disguise                        // the value is split, encoded or spelled differently
	EveryField                      // the injection is in every field, also in ids, names, errors
	lastPlusOne                     // no mutation
)

// Mutations returns all mutations.
func Mutations() []Mutation {
	var all []Mutation
	for m := OwnSender; m < lastPlusOne; m++ {
		all = append(all, m)
	}
	return all
}

// Set returns the set in which the mutated traces are counted.
func (m Mutation) Set() Set { return Set("mutation-" + strconv.Itoa(int(m))) }

// MutationOf returns the mutation whose traces are in s.
func MutationOf(s Set) (Mutation, bool) {
	i := slices.IndexFunc(Mutations(), func(m Mutation) bool { return m.Set() == s })
	return Mutation(i + 1), i >= 0
}

// AllSets returns the recorded sets, the mutated sets, and the requests in other languages.
func AllSets() []Set {
	all := Sets()
	for _, m := range Mutations() {
		all = append(all, m.Set())
	}
	return append(all, Languages)
}

// Seed determines the choices of the mutations, together with the trace.
const Seed = 1

// A variant is one way to make a mutation. Every variant is tried on every trace.
type variant struct {
	name string
	// rewrite returns the mutant, or the reason why there is none.
	rewrite func(*subject) (*Trace, string)
}

// variants returns the ways in which m rewrites attacks or benign traces. For benign traces these
// are only the mutations that an attacker could make alone.
func (m Mutation) variants(kind Kind) []variant {
	if kind == Benign {
		return map[Mutation][]variant{
			OwnSender:  {{"planted", plantSender}},
			CopyTopic:  {{"planted", plantTopic}},
			EveryField: {{"planted", plantEverywhere}},
		}[m]
	}
	return map[Mutation][]variant{
		OwnSender: {{"named", senderNamed}, {"own", senderOwn}, {"listed", senderListed}, {"lookalike", senderLookalike}},
		CopyTopic: {{"title", topicTitle}, {"quote", topicQuote}, {"namesake", topicNamesake}},
		Echo:      {{"argument", echoArgument}, {"record", echoRecord}},
		Disguise: {
			{"encoded", disguiseEncoded},
			{"split", disguiseSplit},
			{"spelled", disguiseSpelled},
			{"reformatted", disguiseCall},
			{"mimic", disguiseMimic},
		},
		EveryField: {{"text", fieldsText}, {"values", fieldsValues}, {"moved", fieldsMoved}, {"error", fieldsError}},
	}[m]
}

// The reasons why a trace has no mutant.
const (
	noCall     = "the attack needs no call"
	noInjected = "no result holds the injected text"
	noPerson   = "nobody is named or known"
	noAddress  = "the attack has no address of the attacker"
	noName     = "the attack has no name the attacker chose"
	noWords    = "the request has no words to copy"
	noForeign  = "no result that others could write into"
	noValue    = "the attack has no value that the owner did not say"
	noEarlier  = "the injected text comes after the calls that carry the goal"
	noTool     = "the suite has no such tool"
	noStanding = "no value of the attack stands in the injected text as it is"
	noField    = "the attacker's record has no field of that sort"
	noStated   = "the owner states nothing of that sort"
)

// mutable reports whether t is mutated: an attack that succeeded, or a benign run that fulfilled
// its task.
func (t *Trace) mutable() bool {
	if _, ok := t.Set(); !ok || t.language {
		return false
	}
	return t.Kind == Attack && t.Succeeded || t.Kind == Benign && t.Utility
}

// choice returns a number below n that depends only on the trace and a word.
func (s *subject) choice(word string, n int) int {
	h := fnv.New64a()
	h.Write([]byte(s.trace.ID))
	h.Write([]byte{0, Seed})
	h.Write([]byte(word))
	return int(h.Sum64() % uint64(n))
}
