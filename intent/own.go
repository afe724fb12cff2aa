package intent

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/language"
	"github.com/floodmark/floodmark/provenance"
)

// self reports whether an address is the owner's own: it is labelled as a mail address in a place
// where they said that their data is.
func (l *licence) self(leaf hook.Leaf) bool { return l.addressIn(leaf, language.Mine) }

// held reports whether an address is that of a person whom the owner called by name. The address
// must contain the name, and must be labelled as a mail address in a place of which the owner said
// that it has this person's data. The call must have no content, and the owner must have named its
// other arguments, because no text or file is sent to a person who is known only from a file.
func (l *licence) held(except int, leaf hook.Leaf) bool {
	for i, other := range l.call.Leaves {
		about := l.call.About[i]
		if i != except && other.Value != "" && (about.Role == floodmark.Content || !l.his(i, about)) {
			return false
		}
	}
	local, _, _ := strings.Cut(strings.ToLower(leaf.Value), "@")
	parts := strings.FieldsFunc(local, func(r rune) bool { return r < 'a' || r > 'z' })
	called := func(name string) bool { return slices.Contains(parts, strings.ToLower(name)) }
	return slices.ContainsFunc(l.turn.Names(), called) && l.addressIn(leaf, language.Theirs)
}

// addressIn reports whether a mail address is labelled as one in a place that the
// owner said has the data of this person, the owner's own or another's.
func (l *licence) addressIn(leaf hook.Leaf, whose language.Whose) bool {
	saysWhere := func(text string) bool { return strings.ContainsAny(text, "/~") } // such a place is a path
	if !strings.Contains(leaf.Value, "@") || !slices.ContainsFunc(l.said, saysWhere) {
		return false
	}
	return slices.ContainsFunc([]string{"email", "e-mail", "mail"}, func(label string) bool {
		return slices.ContainsFunc(l.tr.Labelled(label, leaf.Value), func(sp floodmark.Span) bool { return l.holds(sp.Node) == whose })
	})
}

// titled returns the argument of the call whose text is the owner's own words, such as the title of
// a record. The call must only change what their own service keeps.
func (l *licence) titled() (int, bool) {
	if !l.ownRecord() {
		return 0, false
	}
	if l.tr == nil {
		at := slices.IndexFunc(l.known, func(g floodmark.Ground) bool { return g.By == string(byWords) })
		if at < 0 {
			return 0, false
		}
		return l.known[at].Argument, true
	}
	found := -1
	for i, leaf := range l.call.Leaves {
		if l.call.Arguments[i].Role != floodmark.Content || leaf.Value == "" {
			continue
		}
		his := language.Quotes(l.said, leaf.Value) && l.letterForLetter(leaf.Value)
		if namesTitle(leaf.Top) && !his {
			return 0, false // the title is not in the owner's words
		}
		if his && found < 0 {
			found = i
		}
	}
	return max(found, 0), found >= 0
}

// letterForLetter reports whether the owner typed a text letter for letter, in whatever case. A
// text that only looks the same is by another author.
func (l *licence) letterForLetter(text string) bool {
	return slices.ContainsFunc(l.said, func(said string) bool { return strings.Contains(strings.ToLower(said), strings.ToLower(text)) })
}

// namesTitle reports whether an argument with this name is the title of a record.
func namesTitle(name string) bool {
	return slices.Contains([]string{"title", "subject", "name", "summary", "heading"}, strings.ToLower(name))
}

func (l *licence) hasTitle() bool {
	_, ok := l.titled()
	return ok
}

// inHisWords reports whether the owner wrote the text for a record of their own, so that they need
// not have named anything else. If so, it adds the ground.
func (l *licence) inHisWords() bool {
	i, ok := l.titled()
	if ok {
		l.grounds = append(l.grounds, floodmark.Ground{Argument: i, By: string(byWords)})
	}
	return ok
}

// issued reports whether the owner's own service made a value that is now given back
// to it: the value was first seen in a result of that service. If the call only
// changes what the service keeps, a clause that asks must have the words of the
// argument's name. In any other call the value must be a name such as «ada/paint»,
// of which the owner typed «paint».
func (l *licence) issued(i int, about catalog.Arg, leaf hook.Leaf) bool {
	a := l.call.Arguments[i]
	if a.Whence != floodmark.Seen || a.Pieced || a.Trust < floodmark.Local || len(a.Spans) == 0 {
		return false
	}
	if owner, short, _ := strings.Cut(leaf.Value, "/"); !l.ownRecord() && (about.Is != catalog.IsName || owner == "" || short == "" || !l.turn.Has(short, leaf.Kind, leaf.Top)) {
		return false
	}
	src, ok := l.s.Ledger.Source(a.Spans[0].Node)
	if !ok || l.call.Tool.Server == "" || src.Origin.Server != l.call.Tool.Server || !OwnTool(l.s.Catalog, l.s.Agent, src) {
		return false
	}
	return !l.ownRecord() || slices.ContainsFunc(l.asked.wanted, func(r *language.Request) bool { return speaksOf(r, leaf.Top) })
}

// speaksOf reports whether a clause has the words of an argument's name, except
// words such as «id»: «ssh key» for ssh_key, «repositories» for repo_name.
func speaksOf(r *language.Request, name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c < 'a' || c > 'z' })
	words = slices.DeleteFunc(words, func(w string) bool {
		return w == "id" || w == "ids" || w == "name" || w == "number" || w == "key" && len(words) == 1
	})
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !r.HasWordLike(w) })
}

// titledRecords returns the records with a name. «ada/paint» is also the record
// called «paint» whose owner is ada by a field of the service. The name alone is
// not enough, because others could give it to records of their own.
func (l *licence) titledRecords(title string) []provenance.Record {
	records := l.tr.Records("name", title)
	owner, short, ok := strings.Cut(title, "/")
	if !ok || owner == "" || short == "" || strings.Contains(short, "/") {
		return records
	}
	owned := l.tr.Records("owner", owner)
	for _, r := range l.tr.Records("name", short) {
		if slices.Contains(owned, r) && !slices.Contains(records, r) {
			records = append(records, r)
		}
	}
	return records
}
