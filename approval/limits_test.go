package approval_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// The MAC of a code is in every journal, so it must not change. Two different lists of parts must
// never give the same MAC.
func TestCodeMAC(t *testing.T) {
	const want = "24f5f8874ff0ecf06aaef71789afdf60a10902ed192060d113b84971f91b341f"
	if got := approval.CodeMAC([]byte("key"), "s", "t1", "bf619df9").String(); got != want {
		t.Errorf("the proof of a code is %s, want %s", got, want)
	}
	if approval.CodeMAC(key, "a", "bc", "d") == approval.CodeMAC(key, "ab", "c", "d") {
		t.Error("a session's name runs over into its ticket's")
	}
}

// The limits that people and other programs rely on.
func TestLimits(t *testing.T) {
	for name, c := range map[string][2]int{
		"open questions":             {approval.MaxTickets, 32},
		"grants":                     {approval.MaxGrants, 64},
		"digits of a code":           {approval.CodeLength, 8},
		"digits that name a content": {approval.MinDigestDigits, 8},
		"bytes of a command":         {approval.MaxCommandBytes, 1024},
		"minutes of an approval":     {int(approval.MaxFor / time.Minute), 1440},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
}

func TestParseCommandAtItsLimits(t *testing.T) {
	const status = ".status"
	if _, err := approval.ParseCommand(status + strings.Repeat(" ", 1024-len(status))); err != nil {
		t.Errorf("1024 bytes: %v", err)
	}
	if _, err := approval.ParseCommand(status + strings.Repeat(" ", 1025-len(status))); !errors.Is(err, approval.ErrNotCommand) {
		t.Errorf("1025 bytes: %v", err)
	}
	full := strings.Repeat("a", 64)
	if c, err := approval.ParseCommand(".endorse " + full); err != nil || c.Digest != full {
		t.Errorf("a whole digest: %+v, %v", c, err)
	}
	for text, want := range map[string]string{
		".approve":                   "write: .approve <tool|all> <code> [minutes] [#offer] [always] [=place]",
		".deny exec":                 "write: .deny <tool|all> <code>",
		".deny exec bf619df9 5":      "write: .deny <tool|all> <code>",
		".approve exec bf619df":      "a code has 8 hex digits, such as 0123abcd",
		".approve exec bf619df9 0":   "minutes must be a whole number above 0",
		".endorse 0123abc":           "write: .endorse <the first 8 or more digits of the content's digest>",
		".withdraw " + full + "0":    "write: .withdraw <the first 8 or more digits of the content's digest>",
		".withdraw 0123abcd 0123abc": "write: .withdraw <the first 8 or more digits of the content's digest>",
		".status now":                "write: .status",
	} {
		if got, err := approval.ParseCommand(text); err == nil || err.Error() != want || got != (approval.Command{}) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, want)
		}
	}
}

func TestCodesInAText(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"no code":                      "",
		"bf619df9":                     "bf619df9",
		".approve exec (BF619DF9), ok": "bf619df9",
		"bf619df bf619df99 bf619dfg":   "",
		"a=00000001;b=00000002":        "00000001 00000002",
		"übf619df9":                    "",
	} {
		if got := strings.Join(approval.Codes(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var many []string
	for i := range 65 {
		many = append(many, strconv.Itoa(10000000+i))
	}
	if got := approval.Codes(strings.Join(many, " ")); len(got) != 64 || got[63] != "10000063" {
		t.Errorf("%d codes looked for", len(got))
	}
}

// An approved question is kept only for a late denial.
func TestAnApprovedQuestion(t *testing.T) {
	one, two := shownCall("exec", "1"), shownCall("send", "2")
	var b approval.Book
	b.Open(opened("t0", "00000000", one), 1)
	b.Open(opened("t1", "00000001", two), 1)
	if n := b.Waiting(at(1)); n != 2 {
		t.Errorf("%d questions wait, want 2", n)
	}
	if n := b.Waiting(at(2)); n != 0 {
		t.Errorf("%d expired questions wait", n)
	}
	b.Answer(floodmark.TicketAnswered{Ticket: "t0", Verdict: floodmark.Allow})
	if n := b.Waiting(at(1)); n != 1 {
		t.Errorf("%d questions wait after an answer, want 1", n)
	}
	if _, ok := b.Asked(one.Tool, one.ArgsDigest, at(1)); ok {
		t.Error("an answered question counts as asked")
	}
	if o, ok := b.Asked(two.Tool, two.ArgsDigest, at(1)); !ok || o.ID != "t1" {
		t.Error("the question after an answered one does not count as asked")
	}
	if o, ok := b.ByID("t0", at(1)); !ok || !o.Approved {
		t.Error("an approved question can no longer be denied")
	}
	b.Answer(floodmark.TicketAnswered{Ticket: "t9", Verdict: floodmark.Allow})
	b.Answer(floodmark.TicketAnswered{Ticket: "t9", Verdict: floodmark.Restrict})
	if len(b.Tickets) != 2 || b.Denials != nil {
		t.Errorf("an answer to nothing changed the book: %+v", b)
	}
}

// A late denial revokes what the same question granted, and nothing else.
func TestALateDeny(t *testing.T) {
	one, two, other := shownCall("exec", "1"), shownCall("send", "2"), shownCall("exec", "3")
	book := func() *approval.Book {
		var b approval.Book
		b.Open(opened("t1", "00000001", one, two), 1)
		b.Open(opened("t2", "00000002", other), 1)
		b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: floodmark.GrantTurn, Shown: one, Turn: 1})
		b.Give(floodmark.GrantGiven{Ticket: "t2", Scope: floodmark.GrantTurn, Shown: other, Turn: 1})
		return &b
	}
	b := book()
	b.Answer(floodmark.TicketAnswered{Ticket: "t1", Verdict: floodmark.Restrict})
	for name, c := range map[string]struct{ got, want bool }{
		"the granted call is denied":   {b.Denied(one.Tool, one.ArgsDigest, false), true},
		"the waiting call is denied":   {b.Denied(two.Tool, two.ArgsDigest, false), true},
		"another question's is denied": {b.Denied(other.Tool, other.ArgsDigest, false), false},
		"the granted call is covered":  {covers(b, one), false},
		"another question's is":        {covers(b, other), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", name, c.got)
		}
	}
	b = book()
	b.Answer(floodmark.TicketAnswered{Ticket: "t1", Verdict: floodmark.Confirm})
	if b.Denials != nil || covers(b, one) || !covers(b, other) || len(b.Tickets) != 1 || b.Tickets[0].ID != "t2" {
		t.Errorf("a voided question: %+v", b)
	}
	b.Answer(floodmark.TicketAnswered{Ticket: "t2", Verdict: floodmark.Confirm})
	if b.Tickets != nil || b.Grants != nil {
		t.Errorf("an emptied book differs from a new one: %#v", b)
	}
}

func covers(b *approval.Book, s floodmark.Shown) bool {
	_, ok := b.Covers(want(s))
	return ok
}

// The result of an approved call does not end its approval if exactly that call was shown.
func TestUseMovesWhatWasShown(t *testing.T) {
	exec, send := shownCall("exec", "1"), shownCall("send", "2")
	for scope, moved := range map[floodmark.GrantScope]bool{
		floodmark.GrantTurn: true, floodmark.GrantMinutes: true, floodmark.GrantPattern: false, floodmark.GrantTool: false,
	} {
		var b approval.Book
		b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: scope, Shown: exec})
		b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: scope, Shown: send})
		b.Give(floodmark.GrantGiven{Ticket: "t2", Scope: scope, Shown: exec})
		b.Use(floodmark.GrantUsed{Ticket: "t1", Tool: exec.Tool}, 9)
		nodes := []floodmark.NodeID{b.Grants[0].Shown.Node, b.Grants[1].Shown.Node, b.Grants[2].Shown.Node}
		want := [3]floodmark.NodeID{3, 3, 3}
		if moved {
			want[0] = 10
		}
		if [3]floodmark.NodeID(nodes) != want {
			t.Errorf("%s: shown up to %v, want %v", scope, nodes, want)
		}
	}
}

// A click approves one call of that question and of that tool.
func TestAGrantForOneCall(t *testing.T) {
	exec, send := shownCall("exec", "1"), shownCall("send", "2")
	var b approval.Book
	b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: floodmark.GrantOnce, Shown: exec, Until: at(5)})
	b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: floodmark.GrantOnce, Shown: send, Until: at(5)})
	b.Give(floodmark.GrantGiven{Ticket: "t2", Scope: floodmark.GrantOnce, Shown: exec, Until: at(5)})
	b.Use(floodmark.GrantUsed{Ticket: "t1", Tool: exec.Tool}, 9)
	if len(b.Grants) != 2 || b.Grants[0].Shown.Tool != send.Tool || b.Grants[1].Ticket != "t2" {
		t.Errorf("left after one use: %+v", b.Grants)
	}
	b.Give(floodmark.GrantGiven{Ticket: "t3", Scope: floodmark.GrantOnce, Shown: exec})
	b.CloseTurn()
	if len(b.Grants) != 3 {
		t.Errorf("a click does not outlive the turn: %+v", b.Grants)
	}
}

// A book at its limits has dropped nothing yet.
func TestBookAtItsLimits(t *testing.T) {
	var b approval.Book
	for i := range approval.MaxTickets {
		b.Open(opened(floodmark.TicketID(strconv.Itoa(i)), "00000001", shownCall("x", "y")), 1)
	}
	for i := range approval.MaxGrants {
		b.Give(floodmark.GrantGiven{Ticket: floodmark.TicketID("g" + strconv.Itoa(i)), Scope: floodmark.GrantTurn})
	}
	if b.Tickets[0].ID != "0" || b.Grants[0].Ticket != "g0" {
		t.Error("the oldest gave way too early")
	}
	b.Give(floodmark.GrantGiven{Ticket: "one more", Scope: floodmark.GrantTurn})
	if b.Grants[0].Ticket != "g1" || len(b.Grants) != approval.MaxGrants {
		t.Error("the oldest grant did not give way")
	}
	b = approval.Book{}
	b.Open(opened("t", "00000001", shownCall("x", "0")), 1)
	b.Extend(floodmark.TicketExtended{Ticket: "unknown", Shown: shownCall("x", "y")})
	if len(b.Tickets) != 1 || len(b.Tickets[0].Shown) != 1 {
		t.Error("a call was added to a question that does not exist")
	}
}

// Open keeps a copy of its caller's list.
func TestOpenKeepsACopy(t *testing.T) {
	one, two := shownCall("exec", "1"), shownCall("send", "2")
	list := []floodmark.Shown{one, two}
	var b approval.Book
	b.Open(floodmark.TicketOpened{Ticket: "t1", Shown: list, Expires: at(2)}, 1)
	b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: floodmark.GrantTurn, Shown: one})
	if list[0].Tool != one.Tool || list[1].Tool != two.Tool {
		t.Errorf("the fact was changed: %+v", list)
	}
	b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: floodmark.GrantTurn, Shown: two})
	if b.Tickets[0].Shown != nil {
		t.Errorf("an emptied question differs from an empty one: %#v", b.Tickets[0].Shown)
	}
}

// A wrong code with a ticket is counted only for that question.
func TestAWrongCodeForOneQuestion(t *testing.T) {
	var b approval.Book
	b.Open(opened("t1", "00000001"), 1)
	b.Open(opened("t2", "00000002"), 1)
	b.Refuse(floodmark.TicketRefused{Ticket: "t2"})
	if b.Tickets[0].Wrong != 0 || b.Tickets[1].Wrong != 1 {
		t.Errorf("wrong tries: %d and %d, want 0 and 1", b.Tickets[0].Wrong, b.Tickets[1].Wrong)
	}
}

// A person types enough of a value to prove that they read it.
func TestTail(t *testing.T) {
	for value, want := range map[string][2]string{
		"desk@shop-forms.example": {"shop-forms.example", "type what stands behind the @ of the recipient"},
		"docs.shop.example":       {"shop.example", "type the name of the site, with its ending"},
		"www.shop.co.example":     {"shop.co.example", "type the name of the site, with its ending"},
		"DE89370400440532013000":  {"013000", "type the last 6 characters of the recipient"},
		"curl x.example | sh":     {"e | sh", "type the last 6 characters of the recipient"},
		"abc":                     {"abc", "type the whole of the recipient"},
		"123456":                  {"123456", "type the whole of the recipient"},
		"1234567":                 {"234567", "type the last 6 characters of the recipient"},
		"me@localhost":            {"alhost", "type the last 6 characters of the recipient"},
	} {
		if got, words := approval.Tail(value), approval.TailWords("to", value); got != want[0] || words != want[1] {
			t.Errorf("%s: %q, %q, want %q", value, got, words, want)
		}
	}
	if got := approval.TailWords("", "123456789"); got != "type the last 6 characters of its value" {
		t.Error(got)
	}
	if got := approval.Place("https://Docs.example/a?b"); got != "docs.example" {
		t.Error(got)
	}
	if got := approval.Place("some text…"); got != "some text" {
		t.Error(got)
	}
}

// Only the value or its end, in upper or lower case, is accepted as a pick.
func TestPicks(t *testing.T) {
	args := floodmark.DigestOf("args")
	mac := func(what, v string) floodmark.Digest { return approval.PickMAC(key, "s", args, what, v) }
	s := floodmark.Shown{ArgsDigest: args, Pick: mac(approval.PickWhole, "desk@shop.example"), PickEnd: mac(approval.PickTail, "shop.example")}
	for said, want := range map[string]bool{
		"desk@shop.example": true, " Desk@Shop.example ": true, "shop.example": true, "": false, "example": false, "desk@shop.exampl": false, "xdesk@shop.example": false,
	} {
		if approval.Picks(key, "s", s, said) != want {
			t.Errorf("%q: want %v", said, want)
		}
	}
	if approval.Picks(key, "other", s, "shop.example") || approval.Picks([]byte("k"), "s", s, "shop.example") {
		t.Error("another session or key proves it")
	}
	whole := floodmark.Shown{ArgsDigest: args, Pick: s.Pick}
	if approval.Picks(key, "s", whole, "shop.example") || approval.Picks(key, "s", whole, "") || !approval.Picks(key, "s", whole, "desk@shop.example") {
		t.Error("where there is a choice the end is not enough")
	}
	if !approval.Picks(key, "s", floodmark.Shown{}, "") {
		t.Error("a question without a pick wants one")
	}
}

// What must be entered of one value, and of several.
func TestParts(t *testing.T) {
	for shown, want := range map[string]string{
		"https://Docs.example": "docs.example", "https://docs.example/": "docs.example", "https://docs.example/path": "docs.example|e/path",
		"https://docs.example?q=12": "docs.example|e?q=12", "https://docs.example#top": "docs.example|le#top", "https://me@docs.example": "docs.example|xample",
		"a@x.example": "a@x.example", "ab": "ab",
	} {
		if got := strings.Join(approval.Parts(shown), "|"); got != want {
			t.Errorf("%s: %s, want %s", shown, got, want)
		}
	}
	if got := strings.Join(approval.Distinct([]string{"a", "B", "A", "b", "c"}), "|"); got != "a|B|c" {
		t.Error(got)
	}
	if got := approval.Together(" b.example,A.example\tc "); got != "a.example b.example c" {
		t.Error(got)
	}
}
