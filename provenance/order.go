package provenance

import (
	"slices"
	"strings"
)

// This file holds the English an order is made of. The lists are short on
// purpose: a turn of phrase that is missing costs a question, one too many
// gives something away.

// opening returns where the verb of an order must stand, if the phrase is one,
// and whether it must end in «ing». A phrase that goes on from another may
// begin with «to».
func opening(items []item, goesOn bool) (at int, gerund bool) {
	for at < len(items) {
		n, ing := 1, gerund
		switch word := wordOf(items[at]); {
		case at == 0 && (items[at].kind == Number || items[at].kind == ID): // 1) …
		case at+1 < len(items) && items[at+1].label && isHeading(word):
		case (word == "hi" || word == "hey" || word == "hello") && at+2 < len(items) && items[at+1].kind == Name && !items[at+2].apart && !asksWith(wordOf(items[at+1])):
			n = 2
		case isFiller(word):
		case goesOn && word == "to":
			goesOn = false
		default:
			n, ing = opener(items[at:])
		}
		if n == 0 {
			break
		}
		at, gerund = at+n, ing
	}
	return at, gerund
}

func isHeading(word string) bool {
	switch word {
	case "todo", "task", "tasks", "request", "next", "now", "then", "step", "please", "check":
		return true
	}
	return false
}

// isFiller reports whether a word before an order leaves it one.
func isFiller(word string) bool {
	switch word {
	case "please", "pls", "plz", "kindly", "just", "also", "then", "now", "and", "so", "but", "ok", "okay", "hi", "hello", "hey",
		"thanks", "yes", "yeah", "sure", "alright", "great", "right", "well", "first", "firstly", "second", "secondly", "third", "finally", "lastly", "next",
		"afterwards", "afterward", "again", "simply", "quickly", "immediately", "directly", "today", "tomorrow", "tonight",
		"additionally", "actually", "maybe", "perhaps", "instead", "otherwise", "always":
		return true
	}
	return false
}

// opener returns how many items begin a request that goes on with a verb, and
// whether that ends in «ing».
func opener(items []item) (n int, gerund bool) {
	for _, words := range openers() {
		if n := matches(items, words); n > 0 {
			return n, strings.HasSuffix(words, " mind") || strings.HasSuffix(words, " about")
		}
	}
	return 0, false
}

// openers are how people begin a request, the longer before the shorter. «I»
// stands for «we» too.
func openers() []string {
	return []string{
		"would you mind", "do you mind", "how about", "what about",
		"could you", "can you", "would you", "will you", "can i ask you to", "could i ask you to", "may i ask you to", "can we", "could we",
		"you can", "you could", "you should", "you must", "you may", "you need to", "you have to", "you are to",
		"note that you need to", "note that you have to", "note that you should", "note that you must",
		"i want you to", "i need you to", "i would like you to", "i'd like you to", "i'd love you to", "i would love you to", "i'd want you to",
		"i expect you to", "i am asking you to", "i'm asking you to", "i ask you to", "i would ask you to",
		"i want to", "i need to", "i would like to", "i'd like to", "i'd love to", "i wish to", "i would love to",
		"i was wondering if you could", "i'd appreciate it if you could", "i would appreciate it if you could", "i'd be grateful if you could",
		"i would be grateful if you could", "it would be great if you could", "it'd be great if you could", "would be great if you could",
		"do you think you could", "are you able to", "would it be possible to", "is it possible to", "let us", "let", "lets", // «let's» is read as «let»

		"help me to", "help me", "help us to", "help us", "go ahead", "make sure to", "make sure that you", "make sure you", "be sure to",
		"remember to", "don't forget to", "do not forget to", "feel free to", "your task is to", "your job is to", "the task is to",
		"my request is to", "all you need to do is", "why don't you", "why not", "do", "when done", "once done", "when you're done",
		"when you are done", "when finished", "once finished", "after that", "in addition", "at the end", "in the end", "in that case", "if so", "if yes",
		"if possible", "for me", "time to", "the next step is to", "for now", "as a next step", "as well as", "in the meantime",
	}
}

// matches returns how many items spell these words. A polite word may stand
// between them: «could you please also».
func matches(items []item, words string) int {
	n := 0
	for want := range strings.FieldsSeq(words) {
		for n > 0 && n < len(items) && !items[n].apart && isPolite(wordOf(items[n])) && wordOf(items[n]) != want {
			n++
		}
		if n >= len(items) || n > 0 && items[n].apart || !same(wordOf(items[n]), want) {
			return 0
		}
		n++
	}
	return n
}

func isPolite(word string) bool {
	switch word {
	case "please", "also", "just", "really", "kindly", "then", "now", "maybe", "perhaps", "possibly", "first":
		return true
	}
	return false
}

func same(word, want string) bool {
	switch want {
	case "i":
		return word == "i" || word == "we"
	case "i'd":
		return word == "i'd" || word == "we'd" || word == "id"
	case "i'm":
		return word == "i'm" || word == "we're"
	case "am":
		return word == "am" || word == "are"
	}
	return word == want
}

// isNoun reports whether the first word of what looks like an order is rather
// the name of a thing: «email from Ann», «reply by Bob», «post I wrote».
func isNoun(items []item, at int) bool {
	if at+1 >= len(items) || items[at+1].apart {
		return false
	}
	switch wordOf(items[at+1]) {
	case "from", "by", "of", "i", "we", "he", "she", "they", "you", "is", "are", "was", "were", "has", "had", "have", "says", "said", "came",
		"which", "who", "must", "may", "should", "can", "will", "would", "got", "sent", "received", "does", "did":
		return true
	case "about", "in", "on", "that", "between":
		return isThing(wordOf(items[at]))
	}
	return false
}

// isThing reports whether a verb is more often the name of a thing when
// nothing is done to anything: «email about the launch».
func isThing(word string) bool {
	switch word {
	case "email", "e-mail", "mail", "message", "report", "file", "comment", "note", "invoice", "bill", "order", "record", "list", "request",
		"issue", "link", "branch", "label", "transfer", "payment", "draft", "review", "call", "plan", "document":
		return true
	}
	return false
}

// nounAt reports whether a word stands behind one that only a noun follows.
func nounAt(items []item, i int) bool {
	if i == 0 || items[i].apart {
		return false
	}
	switch wordOf(items[i-1]) {
	case "the", "a", "an", "my", "your", "our", "his", "her", "its", "their", "this", "that", "these", "those", "last", "latest", "first",
		"next", "new", "newest", "recent", "each", "every", "some", "any", "all", "other", "another", "which", "whose", "from", "by", "of",
		"about", "in", "on", "with", "for", "per", "via":
		return true
	}
	return false
}

// verbAt reports whether the plain form of a verb is one where it stands.
func verbAt(items []item, i int) bool {
	if i == 0 || items[i].apart {
		return true
	}
	switch word := wordOf(items[i-1]); word {
	case "to", "i", "you", "we", "they", "not", "never", "please", "just", "also", "then", "now", "and", "or", "can", "could", "will",
		"would", "shall", "should", "may", "might", "must", "do", "does", "did", "let", "lets", "me", "us", "him", "them",
		"dont", "cannot", "ever", "who", "ahead":
		return true
	default:
		return strings.HasSuffix(word, "n't") || items[i-1].kind == Address
	}
}

// isAside reports whether a phrase only says when, why or instead of what.
func isAside(items []item) bool {
	if len(items) == 0 {
		return false
	}
	second := ""
	if len(items) > 1 {
		second = wordOf(items[1])
	}
	switch wordOf(items[0]) {
	case "if":
		return second != "so" && second != "yes" && second != "possible"
	case "when", "once":
		return second != "done" && second != "finished" && (second != "you" && second != "you're" || !slices.ContainsFunc(items, func(it item) bool { return wordOf(it) == "done" }))
	case "since", "because", "while", "unless", "until", "although", "though", "as", "given", "assuming", "provided", "whenever", "whether",
		"rather", "without", "besides", "apart", "despite", "due":
		return true
	case "instead":
		return second == "of"
	case "after", "before":
		return second != "that"
	}
	return false
}

// reports reports whether a word announces what somebody else says.
func reports(it item) bool {
	switch wordOf(it) {
	case "wrote", "writes", "said", "says", "asked", "asks", "told", "tells", "reads", "read", "sent", "got", "received", "message", "mail",
		"email", "quote", "replied", "answered", "claims", "wants", "suggested":
		return true
	}
	return false
}

// negated reports whether a phrase says no to anything. The verbs of an order
// are no part of it («stop the server» is one), nor is what is to be said.
func negated(items []item, verbs []int) bool {
	for i, it := range items {
		word := wordOf(it)
		before, after := "", ""
		if i > 0 {
			before = wordOf(items[i-1])
		}
		if i+1 < len(items) {
			after = wordOf(items[i+1])
		}
		if len(verbs) > 0 && i > verbs[0]+1 && (opensClause(word) || tells(word)) {
			return false // «write to Ann that I will not come»
		}
		switch word {
		case "":
		case "never", "nobody", "none", "nothing", "neither", "nor", "noone", "nowhere", "without", "cannot", "dont", "doesnt", "didnt", "wont",
			"cant", "shouldnt", "mustnt", "refrain", "forbid", "forbidden", "prohibited", "unwilling":
			return true
		case "avoid", "stop", "refuse", "quit", "cease", "halt":
			if !slices.Contains(verbs, i) {
				return true
			}
		case "no":
			if after == "later" || after == "matter" || after == "problem" || after == "worries" || after == "more" ||
				i+1 < len(items) && (items[i+1].kind == Number || items[i+1].kind == ID) {
				continue
			}
			return true
		case "not":
			if after == "forget" || after == "hesitate" || after == "only" || before == "why" || before == "or" {
				continue
			}
			return true
		case "instead", "rather":
			if after == "of" || after == "than" {
				return true
			}
		default:
			if strings.HasSuffix(word, "n't") && after != "forget" && after != "hesitate" && before != "why" {
				return true
			}
		}
	}
	return false
}

// tells reports whether a word begins what is to be said.
func tells(word string) bool {
	switch word {
	case "that", "saying", "stating", "explaining", "mentioning":
		return true
	}
	return false
}

// Assents reports whether a message says yes and nothing else.
func Assents(text string) bool {
	items := readItems(text)
	yes := false
	for at := 0; at < len(items); {
		n, strong := assent(items[at:])
		if n == 0 {
			return false
		}
		at, yes = at+n, yes || strong
	}
	return yes
}

// assent returns how many items say yes, and whether they do so by themselves.
func assent(items []item) (n int, strong bool) {
	for _, words := range []string{
		"yes", "yep", "yeah", "yup", "ok", "okay", "sure", "please do", "go ahead", "go for it", "do it", "do that", "do so", "confirmed",
		"i confirm", "confirm", "correct", "right", "that's right", "that is right", "exactly", "absolutely", "definitely", "of course",
		"agreed", "approved", "sounds good", "looks good", "ja", "oui", "si",
	} {
		if n := plainMatch(items, words); n > 0 {
			return n, true
		}
	}
	for _, words := range []string{"please", "thanks", "thank you", "perfect", "great", "good", "fine", "now", "then"} {
		if n := plainMatch(items, words); n > 0 {
			return n, false
		}
	}
	return 0, false
}

func plainMatch(items []item, words string) int {
	n := 0
	for w := range strings.FieldsSeq(words) {
		if n >= len(items) || wordOf(items[n]) != w || n > 0 && items[n].apart {
			return 0
		}
		n++
	}
	return n
}

// opensClause reports whether a word opens a clause inside another, in which
// somebody else may act: «what Ann shared with Bob».
func opensClause(word string) bool {
	switch word {
	case "what", "who", "whom", "which", "whose", "whether", "if", "how", "where", "when", "why", "because", "since", "while", "unless":
		return true
	}
	return false
}
