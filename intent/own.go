package intent

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/language"
	"github.com/floodmark/floodmark/provenance"
)

// self reports whether an address is the owner's own: it is labelled as one
// where they said that their data is. So nothing goes to others.
func (l *licence) self(leaf hook.Leaf) bool { return l.addressIn(leaf, language.Mine) }

// held reports whether an address is that of a person whom the owner called by
// name: it is labelled as one where they said that hers is, it has that name in
// it, and the call says nothing but who and where. A text or a file is not sent
// to a person known only from a file.
func (l *licence) held(but int, leaf hook.Leaf) bool {
	for i, other := range l.call.Leaves {
		about := l.call.About[i]
		if i != but && other.Value != "" && (about.Role == floodmark.Content || !l.his(i, about)) {
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

// titled returns which text of the call is the owner's own words, if the call
// only changes what their own service keeps for them: what it is called.
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
			return 0, false // it is called otherwise
		}
		if his && found < 0 {
			found = i
		}
	}
	return max(found, 0), found >= 0
}

// letterForLetter reports whether the owner typed a text letter for letter, upper and lower
// case alike. One that only looks the same is by another author.
func (l *licence) letterForLetter(text string) bool {
	return slices.ContainsFunc(l.said, func(said string) bool { return strings.Contains(strings.ToLower(said), strings.ToLower(text)) })
}

// namesTitle reports an argument that says what a record is called.
func namesTitle(name string) bool {
	return slices.Contains([]string{"title", "subject", "name", "summary", "heading"}, strings.ToLower(name))
}

func (l *licence) hasTitle() bool {
	_, ok := l.titled()
	return ok
}

// inHisWords reports whether the owner gave a record of their own its words, so
// that they need have named nothing else.
func (l *licence) inHisWords() bool {
	i, ok := l.titled()
	if ok {
		l.grounds = append(l.grounds, floodmark.Ground{Argument: i, By: string(byWords)})
	}
	return ok
}

// issued reports whether a value is one that the owner's own service made and
// told, to be given back to that same service: only the service wrote the content
// in which it was first seen. The owner must have spoken of such things where they
// asked, and the call must do nothing but change what the service keeps.
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

// speaksOf reports whether a clause has the words of an argument's name, small
// ones aside: «ssh key» for ssh_key, «repositories» for repo_name.
func speaksOf(r *language.Request, name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c < 'a' || c > 'z' })
	words = slices.DeleteFunc(words, func(w string) bool {
		return w == "id" || w == "ids" || w == "name" || w == "number" || w == "key" && len(words) == 1
	})
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !r.HasWordLike(w) })
}

// titledRecords returns the records of a name. «ada/paint» is the record called
// «paint» of which the service says that it is ada's: others could give that
// name to records of their own.
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
