package kernel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/meaning"
)

// usualLine is room for the line of an ordinary refusal, in bytes.
const usualLine = 384

// line explains a refusal in one line: source -> argument -> action -> what
// you can do. It reaches the model, so it carries no code.
func (st *step) line(j *judged) string {
	var b strings.Builder
	b.Grow(usualLine)
	a, found := culprit(j.action.Arguments)
	if from := st.lineSources(j, a); from != "" {
		b.WriteString(from + " -> ")
	}
	if found {
		b.WriteString(argumentName(a))
		b.WriteString(" -> ")
	}
	b.WriteString(visible(j.action.Tool.String()))
	b.WriteString(": ")
	b.WriteString(refusal(j.decision.Verdict))
	if len(j.decision.Reasons) > 0 {
		b.WriteString(" because ")
		b.WriteString(j.decision.Reasons[0].Text)
	}
	b.WriteString(". ")
	b.WriteString(j.decision.Remedy.Person)
	return b.String()
}

// lineSources names, at most two, what a person should look at first: the
// source the argument was seen in, the data that could leave, or else what
// lowered the mark.
func (st *step) lineSources(j *judged, a floodmark.Argument) string {
	var nodes []floodmark.NodeID
	if a.Whence == floodmark.Seen && len(a.Spans) > 0 {
		nodes = append(nodes, a.Spans[0].Node)
	}
	if len(j.decision.Reasons) > 0 {
		switch j.decision.Reasons[0].Code {
		case floodmark.FlowSecret, floodmark.Undescribed:
			nodes = append(nodes, st.s.Ledger.Guarded(floodmark.Secret)...)
		case floodmark.FlowPrivate:
			nodes = append(nodes, st.s.Ledger.Guarded(floodmark.Private)...)
		default:
		}
	}
	nodes = append(nodes, j.decision.Blame...)
	names := loadNames(&j.basis)
	for _, n := range nodes {
		src, ok := st.s.Ledger.Source(n)
		if !ok || len(names) > 2 {
			continue
		}
		l := st.s.Ledger.Effective(n)
		name := meaning.Source(src, l.Trust)
		if l.Secrecy <= floodmark.Private && slices.Contains(st.s.Ledger.Guarded(l.Secrecy), n) && l.Trust >= floodmark.Local {
			name = meaning.Source(src, l.Trust) + " [" + l.Secrecy.String() + "]"
		}
		names = addNew(names, name)
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
	case floodmark.Restrict, floodmark.Allow: // what is allowed has no line
	}
	return "refused"
}

// reasonLine is the line of a refusal that is not about a tool.
func reasonLine(what string, d floodmark.Decision) string {
	if len(d.Reasons) == 0 {
		return what + "."
	}
	return what + ": " + d.Reasons[0].Text + ". " + d.Remedy.Person
}

// culprit is the argument a person should look at: the least believed one
// that matters.
func culprit(args []floodmark.Argument) (floodmark.Argument, bool) {
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
		return visible(a.Path) + " " + strconv.Quote(visible(a.Shown)) + " (seen there)"
	case floodmark.Nowhere:
		return visible(a.Path) + " " + strconv.Quote(visible(a.Shown)) + " (composed by the model)"
	case floodmark.Stated:
	}
	return visible(a.Path) + " " + strconv.Quote(visible(a.Shown))
}

// remedy says what can be done instead, and blames the sources that count.
func (st *step) remedy(d *floodmark.Decision, trust floodmark.Trust) {
	if trust < floodmark.Owner {
		d.Blame = st.s.Ledger.Blame(trust)
	}
	asked, refused := "Approve it, deny it, or trust the source («floodmark trust») if you vouch for it.", "Trust the source («floodmark trust») if you vouch for it, or change the policy."
	if len(d.Blame) == 0 && !st.loading {
		asked, refused = "Approve it or deny it.", "Change the policy if you want it."
	}
	switch d.Verdict {
	case floodmark.Confirm:
		d.Remedy.Agent = "Tell the owner what you want to do and why, go on with what needs no approval, and try the same call again once it is approved."
		d.Remedy.Person = asked
	case floodmark.Restrict:
		d.Remedy.Agent = "Do not try this again; finish the task without it and say what was left out."
		d.Remedy.Person = "It cannot be approved here. " + refused
	case floodmark.Audit, floodmark.Allow:
	}
}

// blamed adds the sources that a decision blames to a list.
func (st *step) blamed(list []floodmark.Source, d floodmark.Decision) []floodmark.Source {
	list = slices.Grow(list, len(d.Blame))
	for _, n := range d.Blame {
		if src, ok := st.s.Ledger.Source(n); ok {
			list = append(list, src)
		}
	}
	return list
}

// loadedFrom are the sources of what a call would load.
func loadedFrom(b *floodmark.Basis) []floodmark.Source {
	var list []floodmark.Source
	for _, l := range b.Loads {
		list = append(list, l.Sources...)
	}
	return list
}

// maxVisible bounds a foreign name in a line or footer.
const maxVisible = 80

// visible is a foreign name as a person may safely be shown it.
func visible(name string) string { return floodmark.Inert(name, maxVisible) }

// because says why an argument that the owner did not type counts as his, or
// nothing. Only a call that his words cover has such reasons.
func because(b *floodmark.Basis, i int) string {
	if !b.Licensed {
		return ""
	}
	at := slices.IndexFunc(b.Grounds, func(g floodmark.Ground) bool { return g.Argument == i })
	if at < 0 {
		return ""
	}
	return "; it counts as yours: " + warrant(b.Grounds[at].By).because()
}

// because is the reason in plain words.
func (v warrant) because() string {
	text := map[warrant]string{
		byWhen:     "you named that day",
		byOpen:     "you left the time open",
		byFlag:     "you used its name",
		byField:    "it stands in the record you named, in the field you spoke of",
		byChoice:   "it is the one your words choose from the list of your own service",
		byRecord:   "it is the id of the one record you named",
		byListed:   "your own service lists it, and the text is yours",
		bySource:   "it comes only from the page or file you pointed at",
		byWords:    "the words are yours, and the record is",
		byIssued:   "your own service told it, and it goes back to that service",
		bySelf:     "it is your own address, from where you said it is",
		byHeld:     "it is the address of somebody you named, from where you said it is",
		byContact:  "it is the address of somebody you named, in a book of your own",
		byBegins:   "it is the one of the list of your own service that begins as you said",
		byPaid:     "it is the account of somebody you named and have paid before",
		bySender:   "you named who wrote what you said to act on",
		bySite:     "it is the site you named, or a link which that site itself gave",
		byForm:     "the form of the site you named asks for it, and it comes from where you said your data is",
		byComputed: "it follows from an amount in the records of who gets it",
	}[v]
	return cmp.Or(text, "something you named vouches for it ("+string(v)+")")
}

// besideVerifiers reports whether a reason is one of the policy or of a person.
func besideVerifiers(r floodmark.Reason) bool { return r.Code != floodmark.Verified }

// Spared says why a call was let through without a question that the mark alone
// would have been reason for, or nothing.
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
