package language

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// A sentence holds the items of one sentence, and what ends it.
type sentence struct {
	items []item
	end   string // the text behind the last item, up to the next sentence
}

// sentences cuts a message at the signs that end a sentence in any script.
func sentences(text string, items []item) []sentence {
	var list []sentence
	from := 0
	for i, it := range items {
		end := len(text)
		if i+1 < len(items) {
			end = items[i+1].Start
		}
		if end < it.End {
			continue
		}
		if between := text[it.End:end]; !it.inner && strings.ContainsAny(between, ".!?;\n。！？；…") || i+1 == len(items) {
			list = append(list, sentence{items[from : i+1], between})
			from = i + 1
		}
	}
	return list
}

// quoteInner marks text in typographic quotes as quoted, also if the opening quote
// follows a letter without a space, as is usual in Chinese. If the quotes contain a
// single token that is no word, the token remains a value.
func quoteInner(text string, items []item) []item {
	items = slices.Clone(items)
	for from := 0; ; {
		open := strings.Index(text[from:], "“")
		if open < 0 {
			return items
		}
		open += from + len("“")
		size := strings.Index(text[open:], "”")
		if size < 0 {
			return items
		}
		from = open + size
		for i, it := range items {
			if it.Start >= open && it.End <= from && it.Kind != tokens.Quoted && (it.Start != open || it.End != from || isWordItem(it)) {
				items[i].inner = true
			}
		}
	}
}

// plainOrders returns the orders of a message that is in a language other than
// English. Each sentence must be understood in exactly one language. If one is not,
// there are no orders at all, because that sentence may be a condition.
func (l *Lexicon) plainOrders(text string, items []item) []*Request {
	items = quoteInner(text, items)
	strong, weak := l.denied(items)
	if strong || weak || strings.ContainsAny(text, "「」『』《》〈〉") {
		if strong {
			return []*Request{{words: l, g: l.grammar(), text: text, denies: true}}
		}
		return nil
	}
	var list []*Request
	for _, s := range sentences(text, items) {
		var read []*Request
		languages := 0
		for _, t := range l.tongues() {
			if found, ok := t.read(text, s); ok {
				languages++
				read = found
			}
		}
		if languages != 1 {
			return nil
		}
		for _, r := range read {
			r.words, r.g = l, l.grammar()
			r.take(r.items)
		}
		list = append(list, read...)
		if strings.ContainsAny(s.end, ":：") {
			break // what follows may be by another author
		}
	}
	return list
}

// A reader reads one sentence in one language.
type reader struct {
	t       *tongue
	text    string
	items   []item
	clauses []*Request
	begins  bool // a clause may begin here
	told    bool // a colon was seen: what follows may be a text
	waits   bool // the clause has no verb yet
	last    int  // the index of the item before; -1 if there is none
}

// read returns the clauses of a sentence, if each word of it is known.
func (t *tongue) read(text string, s sentence) ([]*Request, bool) {
	r := &reader{t: t, text: text, items: t.segment(s.items), begins: true, last: -1}
	from, final := r.opener()
	if from == 0 && strings.ContainsAny(s.end+text[max(0, s.items[0].Start-len("¿")):s.items[0].Start], "?？¿") {
		return nil, false
	}
	for i := from; i < len(r.items); i++ {
		if r.items[i].inner || r.last >= 0 && r.items[i].Start < r.items[r.last].End {
			continue
		}
		if !r.next(i, final) {
			return nil, false
		}
		r.last = i
	}
	return r.clauses, len(r.clauses) > 0 && !r.waits && r.ended()
}

// opener reads the words of a request before its infinitive. It returns the index
// behind these words, and the index of the infinitive if that must end the
// sentence, else -1.
func (r *reader) opener() (from, final int) {
	for _, words := range r.t.Openers {
		n := 0
		for w := range strings.FieldsSeq(words) {
			if n >= len(r.items) || plainWord(r.items[n]) != w {
				n = 0
				break
			}
			n++
		}
		if n == 0 {
			continue
		}
		r.last = n - 1
		if !r.t.Final {
			return n, -1
		}
		for final = len(r.items) - 1; final > n && r.items[final].inner; final-- {
		}
		if senses := r.t.finals[plainWord(r.items[final])]; len(senses) > 0 {
			r.add(n-1, senses)
			r.begins = false
			return n, final
		}
		return 0, -1
	}
	return 0, -1
}

// next reads one item. It returns false if it does not understand the item.
func (r *reader) next(i, final int) bool {
	it, word := r.items[i], plainWord(r.items[i])
	if r.last >= 0 {
		between := r.text[min(r.items[i-1].End, it.Start):it.Start]
		if strings.Trim(between, " \t,，、:：()（）\"'“”„‟«»‘’`") != "" {
			return false
		}
		r.begins = r.begins || final < 0 && strings.ContainsAny(between, ",，、")
		r.told = r.told || len(r.clauses) > 0 && strings.ContainsAny(between, ":：")
	}
	if r.told && (r.isVerb(word) || r.t.To.has(word)) {
		return false
	}
	switch {
	case i == final:
		return true
	case r.t.Joints.has(word):
		r.begins = final < 0
		return true
	case (r.begins || r.last >= 0 && r.isVerb(plainWord(r.items[r.last]))) && r.t.Fillers.has(word):
		return true
	case (r.begins || r.waits) && r.isVerb(word):
		return !shouted(it.raw) && r.verb(i, word)
	case r.begins && r.t.Leads.has(word):
		if r.waits || !r.ended() {
			return false
		}
		r.add(i, nil)
		r.begins, r.waits = false, true
		return true
	case len(r.clauses) == 0:
		return false
	}
	r.begins = false
	return r.ordinary(i, word)
}

func (r *reader) isVerb(word string) bool {
	if word == "" {
		return false
	}
	return len(r.t.senses[word]) > 0 || r.t.Reads.has(word) || len(r.t.Openers) > 0 && !r.t.Final && r.last >= 0 && len(r.clauses) == 0 && len(r.t.finals[word]) > 0
}

// verb begins a clause with a verb, or adds the verb to a clause that waits for one.
func (r *reader) verb(i int, word string) bool {
	senses := slices.Concat(r.t.senses[word], r.t.finals[word])
	if r.waits {
		c := r.clauses[len(r.clauses)-1]
		c.verbs, c.senses = []int{i - c.first}, senses
		r.begins, r.waits = false, false
		return true
	}
	if !r.ended() {
		return false
	}
	r.add(i, senses)
	r.begins = false
	return true
}

// add begins a clause at an item.
func (r *reader) add(i int, senses []sense) {
	if n := len(r.clauses); n > 0 {
		r.clauses[n-1].items = r.items[r.clauses[n-1].first:i]
	}
	r.clauses = append(r.clauses, &Request{tongue: r.t, text: r.text, items: r.items[i:], first: i, verbs: []int{0}, senses: senses})
}

// ended drops the senses of the last clause's verb that do not fit how the clause
// ends, and reports whether one is left.
func (r *reader) ended() bool {
	if len(r.clauses) == 0 {
		return true
	}
	c := r.clauses[len(r.clauses)-1]
	if r.waits {
		return false
	}
	if len(c.senses) == 0 {
		return true
	}
	end := ""
	if r.last >= 0 {
		end = plainWord(r.items[r.last])
	}
	parted := slices.ContainsFunc(c.senses, func(s sense) bool { return s.particle != "" && s.particle == end })
	c.senses = slices.DeleteFunc(slices.Clone(c.senses), func(s sense) bool { return parted != (s.particle == end && end != "") || !parted && s.particle != "" })
	return len(c.senses) > 0
}

// ordinary reports whether an item may stand in an order.
func (r *reader) ordinary(i int, word string) bool {
	it, before := r.items[i], ""
	if r.last >= 0 {
		before = plainWord(r.items[r.last])
	}
	switch {
	case word == "的":
		return r.last < 0 || r.items[r.last].Kind == tokens.Number || r.items[r.last].Kind == tokens.ID || isWordItem(r.items[r.last]) && isHan(r.items[r.last])
	case r.isVerb(word):
		return it.Kind == tokens.Name // a noun that is written like the verb
	case r.t.Months.of(word) != 0 || it.Kind == tokens.ID || it.Kind == tokens.Number:
		return r.timed(i)
	case r.t.Bars.has(word) || it.Kind == tokens.Name && (r.t.Marks.has(word) && !r.t.knows(word) || shouted(it.raw)):
		return false
	case word == "", r.t.knows(word), r.named(i):
		return true
	case it.Kind == tokens.Name:
		return !r.t.Small.has(before) && !r.t.Loose.has(before) && !r.t.Away.has(before)
	case !r.waits && slices.ContainsFunc(r.clauses[len(r.clauses)-1].senses, func(s sense) bool { return s.particle == word }):
		return true
	}
	return false
}

// shouted reports whether a word is in capitals, so that a name looks like any
// other word.
func shouted(word string) bool {
	return len(word) > 3 && strings.ToUpper(word) == word && !isHan(item{raw: word})
}

// timed reports whether a month, a number or an id is understood. It returns false
// for what may be a day that cannot be read, because otherwise the owner would seem
// to have left the time open.
func (r *reader) timed(i int) bool {
	it := r.items[i]
	word := func(j int) string {
		if j < 0 || j >= len(r.items) {
			return ""
		}
		return plainWord(r.items[j])
	}
	if it.Kind == tokens.ID {
		_, day, clock := tokens.ReadTime(it.raw)
		return day || clock || !tokens.Only(it.raw, "0123456789./-:")
	}
	if it.Kind == tokens.Number {
		month := r.t.Months.of(word(i+1)) != 0 || r.t.Months.of(word(i+2)) != 0
		return month || !r.t.Days.has(word(i-1))
	}
	number := func(j int) bool { return j >= 0 && r.items[j].Kind == tokens.Number }
	return number(i-1) || number(i-2)
}

// named reports whether an item is the name of the thing beside it: «channel general».
func (r *reader) named(i int) bool {
	beside := func(j int) bool { return j >= 0 && j < len(r.items) && r.t.Named.has(plainWord(r.items[j])) }
	return !isHan(r.items[i]) && !r.items[i].apart && (beside(i-1) || r.t.longest > 0 && beside(i+1))
}

// meansOne reports whether the verb of a plain order may mean one of these English verbs.
func (r *Request) meansOne(verbs []string) bool {
	return slices.ContainsFunc(r.senses, func(s sense) bool { return slices.Contains(verbs, s.means) })
}

// plainAmount reports whether a number says how much: no word before it says
// that it is what something is taken from or compared with.
func (r *Request) plainAmount(i int) bool {
	for j := i - 1; j >= 0; j-- {
		word := plainWord(r.items[j])
		if !r.tongue.Small.has(word) && !r.tongue.role(word) {
			return true
		}
		if r.tongue.Away.has(word) {
			return false
		}
	}
	return true
}

// plainAim returns the aim of a value in a plain order. The nearest word before the
// value that says something goes to it, or not, decides.
func (r *Request) plainAim(sp span) aim {
	listed, between := false, 0
	verb := r.verbs[0]
	for j := sp.from - 1; j >= 0; j-- {
		it := r.items[j]
		if it.inner || it.End > r.items[sp.from].Start {
			continue
		}
		listed = listed || strings.ContainsAny(r.text[it.End:r.items[j+1].Start], ",，、(（")
		word := plainWord(it)
		switch {
		case j == verb:
			return maybeAimed
		case r.tongue.To.has(word):
			return aimed
		case r.tongue.Loose.has(word):
			return maybeAimed
		case r.tongue.Away.has(word):
			return notAimed
		case r.tongue.Joints.has(word):
			listed = true
		case r.tongue.Small.has(word), r.tongue.Nouns.has(word), r.tongue.Fillers.has(word):
			if between++; listed || between > maxBetween {
				return notAimed
			}
		case listed:
			return r.plainAim(span{j, j + 1})
		default:
			return notAimed
		}
	}
	return notAimed
}
