// Package report words what people are told of a decision: why it was made, where its arguments
// came from and what the person can do. It decides nothing. The only foreign text in its output is
// names, made safe to show.
package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/provenance"
)

// usualLine is the usual length of a refusal's line, in bytes.
const usualLine = 384

// Line explains a refusal in one line: source -> argument -> action -> what you can do. The line
// contains no code, because the model reads it.
func Line(l *provenance.Ledger, f *floodmark.ActionDecided) string {
	var b strings.Builder
	b.Grow(usualLine)
	a, found := Culprit(f.Action.Arguments)
	if from := lineSources(l, f, a); from != "" {
		b.WriteString(from + " -> ")
	}
	if found {
		b.WriteString(argumentName(a))
		b.WriteString(" -> ")
	}
	b.WriteString(Visible(f.Action.Tool.String()))
	b.WriteString(": ")
	b.WriteString(refusal(f.Decision.Verdict))
	if len(f.Decision.Reasons) > 0 {
		b.WriteString(" because ")
		b.WriteString(f.Decision.Reasons[0].Text)
	}
	b.WriteString(". ")
	b.WriteString(f.Decision.Remedy.Person)
	return b.String()
}

// lineSources names at most two sources that a person should look at first, in this order: what the
// call would load, the source in which the argument was seen, the data that could leave, and what
// lowered the mark.
func lineSources(l *provenance.Ledger, f *floodmark.ActionDecided, a floodmark.Argument) string {
	var nodes []floodmark.NodeID
	if a.Whence == floodmark.Seen && len(a.Spans) > 0 {
		nodes = append(nodes, a.Spans[0].Node)
	}
	if len(f.Decision.Reasons) > 0 {
		switch f.Decision.Reasons[0].Code {
		case floodmark.FlowSecret, floodmark.Undescribed:
			nodes = append(nodes, l.Guarded(floodmark.Secret)...)
		case floodmark.FlowPrivate:
			nodes = append(nodes, l.Guarded(floodmark.Private)...)
		default:
		}
	}
	nodes = append(nodes, f.Decision.Blame...)
	names := loadNames(f.Basis)
	for _, n := range nodes {
		src, ok := l.Source(n)
		if !ok || len(names) > 2 {
			continue
		}
		at := l.Effective(n)
		name := meaning.Source(src, at.Trust)
		if at.Secrecy <= floodmark.Private && slices.Contains(l.Guarded(at.Secrecy), n) && at.Trust >= floodmark.Local {
			name = meaning.Source(src, at.Trust) + " [" + at.Secrecy.String() + "]"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 2 {
		return strings.Join(names[:2], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func refusal(v floodmark.Verdict) string {
	switch v {
	case floodmark.Confirm:
		return "waits for your approval"
	case floodmark.Audit:
		return "waits for the auditor"
	case floodmark.Restrict, floodmark.Allow: // an allowed call has no line
	}
	return "refused"
}

// ReasonLine explains a refusal that is not about a tool in one line.
func ReasonLine(what string, d floodmark.Decision) string {
	if len(d.Reasons) == 0 {
		return what + "."
	}
	return what + ": " + d.Reasons[0].Text + ". " + d.Remedy.Person
}

// Culprit returns the argument a person should look at: the least trusted argument that matters.
func Culprit(args []floodmark.Argument) (floodmark.Argument, bool) {
	var worst floodmark.Argument
	found := false
	for _, a := range args {
		if a.Role == floodmark.Content || a.Whence == floodmark.Stated || a.Shown == "" {
			continue
		}
		if !found || a.Trust < worst.Trust || a.Trust == worst.Trust && a.Whence > worst.Whence {
			worst, found = a, true
		}
	}
	return worst, found
}

func argumentName(a floodmark.Argument) string {
	switch a.Whence {
	case floodmark.Seen:
		return Visible(a.Path) + " " + strconv.Quote(Visible(a.Shown)) + " (seen there)"
	case floodmark.Nowhere:
		return Visible(a.Path) + " " + strconv.Quote(Visible(a.Shown)) + " (composed by the model)"
	case floodmark.Stated:
	}
	return Visible(a.Path) + " " + strconv.Quote(Visible(a.Shown))
}

// LoadedFrom returns the sources of what a call would load.
func LoadedFrom(b *floodmark.Basis) []floodmark.Source {
	if b == nil {
		return nil
	}
	var list []floodmark.Source
	for _, l := range b.Loads {
		list = append(list, l.Sources...)
	}
	return list
}

// maxVisible bounds a foreign name in a line or footer.
const maxVisible = 80

// Visible returns a foreign name in a form that is safe to show to a person.
func Visible(name string) string { return floodmark.Inert(name, maxVisible) }

// because says why an argument that the owner did not type is treated as the owner's, or returns
// "". Only a call that the owner's words cover has such reasons.
func because(b *floodmark.Basis, i int) string {
	if b == nil || !b.Licensed {
		return ""
	}
	at := slices.IndexFunc(b.Grounds, func(g floodmark.Ground) bool { return g.Argument == i })
	if at < 0 {
		return ""
	}
	return "; it counts as yours: " + groundWords(b.Grounds[at].By)
}

// groundWords returns in plain words the reason of a [floodmark.Ground].
func groundWords(by string) string {
	text := map[string]string{
		"when":     "you named that day",
		"open":     "you left the time open",
		"flag":     "you used its name",
		"field":    "it stands in the record you named, in the field you spoke of",
		"choice":   "it is the one your words choose from the list of your own service",
		"record":   "it is the id of the one record you named",
		"listed":   "your own service lists it, and the text is yours",
		"source":   "it comes only from the page or file you pointed at",
		"words":    "the words are yours, and the record is",
		"issued":   "your own service told it, and it goes back to that service",
		"self":     "it is your own address, from where you said it is",
		"held":     "it is the address of somebody you named, from where you said it is",
		"contact":  "it is the address of somebody you named, in a book of your own",
		"begins":   "it is the one of the list of your own service that begins as you said",
		"paid":     "it is the account of somebody you named and have paid before",
		"sender":   "you named who wrote what you said to act on",
		"site":     "it is the site you named, or a link which that site itself gave",
		"form":     "the form of the site you named asks for it, and it comes from where you said your data is",
		"computed": "it follows from an amount in the records of who gets it",
	}[by]
	return cmp.Or(text, "something you named vouches for it ("+by+")")
}

// besideVerifiers reports whether a reason comes from the policy or a person and not from a
// verifier.
func besideVerifiers(r floodmark.Reason) bool { return r.Code != floodmark.Verified }

// Spared says why a call was allowed without a question although its mark alone would have caused
// one. It returns "" if that is not the case.
func Spared(f floodmark.ActionDecided) string {
	b := f.Basis
	if b == nil || f.Decision.Verdict != floodmark.Allow || slices.ContainsFunc(f.Decision.Reasons, besideVerifiers) || f.Mark.Trust >= floodmark.Local {
		return ""
	}
	var why []string
	if b.Pushed && slices.Contains(f.Action.Effects, floodmark.Send) {
		why = append(why, "you asked for a push in this turn, and it goes where the project came from")
	}
	if b.Tidies && slices.Contains(f.Action.Effects, floodmark.Change) {
		why = append(why, "it deletes nothing but what this session wrote")
	}
	return strings.Join(why, "; ")
}

// loadNames returns what a call would load and where that came from.
func loadNames(b *floodmark.Basis) []string {
	if b == nil {
		return nil
	}
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, l := range b.Loads {
		if len(l.Sources) == 0 {
			add(Visible(l.Artifact.String()) + " (" + l.Label.Trust.String() + ")")
		}
		for _, s := range l.Sources {
			add(meaning.Source(s, l.Label.Trust))
		}
	}
	return names
}

// Title names an action in a few words.
func Title(a floodmark.Action) string {
	switch a.Kind {
	case floodmark.CallModel:
		return "model call"
	case floodmark.SendReply:
		return "answer to " + cmp.Or(a.Audience, "others")
	case floodmark.SpawnAgent:
		return "sub-agent " + Visible(string(a.Child))
	case floodmark.CallTool:
	}
	return Visible(a.Tool.String())
}
