package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

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
	switch v {
	case byWhen:
		return "you named that day"
	case byOpen:
		return "you left the time open"
	case byFlag:
		return "you used its name"
	case byField:
		return "it stands in the record you named, in the field you spoke of"
	case byChoice:
		return "it is the one your words choose from the list of your own service"
	case byRecord:
		return "it is the id of the one record you named"
	case byListed:
		return "your own service lists it, and the text is yours"
	case bySource:
		return "it comes only from the page or file you pointed at"
	case byWords:
		return "the words are yours, and the record is"
	case byIssued:
		return "your own service told it, and it goes back to that service"
	case bySelf:
		return "it is your own address, from where you said it is"
	case byHeld:
		return "it is the address of somebody you named, from where you said it is"
	case byContact:
		return "it is the address of somebody you named, in a book of your own"
	case byBegins:
		return "it is the one of the list of your own service that begins as you said"
	case byPaid:
		return "it is the account of somebody you named and have paid before"
	case bySender:
		return "you named who wrote what you said to act on"
	case bySite:
		return "it is the site you named, or a link which that site itself gave"
	case byForm:
		return "the form of the site you named asks for it, and it comes from where you said your data is"
	case byComputed:
		return "it follows from an amount in the records of who gets it"
	}
	return "something you named vouches for it (" + string(v) + ")"
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
	if b.Bound && slices.Contains(f.Action.Effects, floodmark.Run) {
		why = append(why, "all code it runs lies in files that are your own work, as far as is known")
	}
	if b.Pushed && slices.Contains(f.Action.Effects, floodmark.Send) {
		why = append(why, "you asked for a push in this turn, and it goes where the project came from")
	}
	if b.Tidies && slices.Contains(f.Action.Effects, floodmark.Change) {
		why = append(why, "it deletes nothing but what this session wrote")
	}
	return strings.Join(why, "; ")
}
