package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

func TestParseCommand(t *testing.T) {
	for text, want := range map[string]approval.Command{
		".approve exec bf619df9":            {Verb: approval.Approve, Tool: "exec", Code: "bf619df9"},
		".approve all BF619DF9":             {Verb: approval.Approve, Tool: "all", Code: "bf619df9"},
		".approve exec bf619df9 30":         {Verb: approval.Approve, Tool: "exec", Code: "bf619df9", For: 30 * time.Minute},
		".approve exec bf619df9 1440":       {Verb: approval.Approve, Tool: "exec", Code: "bf619df9", For: 24 * time.Hour},
		".approve exec bf619df9 1441":       {Verb: approval.Approve, Tool: "exec", Code: "bf619df9", For: 24 * time.Hour},
		".approve exec bf619df9 4294967295": {Verb: approval.Approve, Tool: "exec", Code: "bf619df9", For: 24 * time.Hour},
		".approve exec bf619df9 #2":         {Verb: approval.Approve, Tool: "exec", Code: "bf619df9", Offer: 2},
		".approve exec bf619df9 5 #3":       {Verb: approval.Approve, Tool: "exec", Code: "bf619df9", Offer: 3, For: 5 * time.Minute},
		".approve exec bf619df9 =a b =c ":   {Verb: approval.Approve, Tool: "exec", Code: "bf619df9", Picked: "a b =c"},
		".approve exec bf619df9 #1 5 =123":  {Verb: approval.Approve, Tool: "exec", Code: "bf619df9", Offer: 1, For: 5 * time.Minute, Picked: "123"},
		"  .deny\texec  bf619df9 ":          {Verb: approval.Deny, Tool: "exec", Code: "bf619df9"},
		".endorse 0123ABCD":                 {Verb: approval.Endorse, Digest: "0123abcd"},
		".withdraw 0123abcd":                {Verb: approval.Withdraw, Digest: "0123abcd"},
		".status":                           {Verb: approval.Status},
	} {
		if got, err := approval.ParseCommand(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestParseCommandRefuses(t *testing.T) {
	for _, text := range []string{
		".approve", ".approve exec", ".approve exec bf619df", ".approve exec bf619df9x", ".approve exec bf619dfg",
		".approve exec bf619df9 #0", ".approve exec bf619df9 #4", ".approve exec bf619df9 #x", ".approve exec bf619df9 #1 #2", ".approve exec =bf619df9", ".deny exec bf619df9 =x", ".deny exec bf619df9 #1",
		".approve exec bf619df9 0", ".approve exec bf619df9 -1", ".approve exec bf619df9 ever", ".approve exec bf619df9 1 2",
		".approve exec bf619df9 4294967296", ".deny exec bf619df9 5", ".deny exec", ".endorse", ".endorse 0123abc", ".endorse xyzxyzxy",
		".endorse " + strings.Repeat("a", 65), ".endorse a b", ".status now",
	} {
		if got, err := approval.ParseCommand(text); err == nil || errors.Is(err, approval.ErrNotCommand) {
			t.Errorf("%q: %+v, %v; want an error that says how to write it", text, got, err)
		}
	}
	for _, text := range []string{
		"", " ", "approve exec bf619df9", "please .approve exec bf619df9", "!approve exec", ".approved exec bf619df9",
		".approve exec bf619df9" + strings.Repeat(" ", approval.MaxCommandBytes),
	} {
		if got, err := approval.ParseCommand(text); !errors.Is(err, approval.ErrNotCommand) {
			t.Errorf("%.40q: %+v, %v; want ErrNotCommand", text, got, err)
		}
	}
}

// FuzzParseCommand checks that no text gives an answer without a code of the
// right form, or for longer than MaxFor.
func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"", "hello", ".approve exec bf619df9", ".approve all bf619df9 30", ".deny x 00000000", ".endorse 0123abcd", ".approve exec x 99999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := approval.ParseCommand(s)
		if err != nil {
			return
		}
		answers := c.Verb == approval.Approve || c.Verb == approval.Deny
		if answers && (c.Tool == "" || len(c.Code) != approval.CodeLength) || c.For < 0 || c.For > approval.MaxFor || c.Ticket != "" {
			t.Errorf("%q gave %+v", s, c)
		}
	})
}

var key = []byte("key")

func at(minutes int) time.Time { return time.Date(2026, 1, 1, 0, minutes, 0, 0, time.UTC) }

func shownCall(tool, args string) floodmark.Shown {
	return floodmark.Shown{
		Tool: floodmark.ToolRef{Agent: "a", Name: tool}, ArgsDigest: floodmark.DigestOf(args),
		Mark:  floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private},
		Codes: []floodmark.Code{floodmark.TaintEscalation}, Node: 3,
	}
}

func opened(id floodmark.TicketID, code string, calls ...floodmark.Shown) floodmark.TicketOpened {
	return floodmark.TicketOpened{Ticket: id, CodeMAC: approval.CodeMAC(key, "s", id, code), Shown: calls, Expires: at(2)}
}

func TestCodes(t *testing.T) {
	var b approval.Book
	b.Open(opened("t1", "00000001", shownCall("exec", "x")), 1)
	b.Open(opened("t2", "00000002", shownCall("send", "x")), 1)
	if o, ok := b.ByCode(key, "s", "00000002", at(0)); !ok || o.ID != "t2" {
		t.Errorf("right code: %v %v", o.ID, ok)
	}
	for name, found := range map[string]bool{
		"wrong code":    found(b.ByCode(key, "s", "00000003", at(0))),
		"no code":       found(b.ByCode(key, "s", "", at(0))),
		"other session": found(b.ByCode(key, "other", "00000002", at(0))),
		"other key":     found(b.ByCode([]byte("x"), "s", "00000002", at(0))),
		"expired":       found(b.ByCode(key, "s", "00000002", at(2))),
		"expired id":    found(b.ByID("t2", at(2))),
		"unknown id":    found(b.ByID("t3", at(0))),
	} {
		if found {
			t.Errorf("%s: accepted", name)
		}
	}
	if o, ok := b.ByID("t1", at(1)); !ok || o.ID != "t1" {
		t.Errorf("by id: %v %v", o.ID, ok)
	}
}

func found(_ approval.Open, ok bool) bool { return ok }

func want(s floodmark.Shown) approval.Wanted {
	return approval.Wanted{
		Tool: s.Tool, ArgsDigest: s.ArgsDigest, Pattern: s.Pattern, Mark: s.Mark, Codes: s.Codes, At: at(1), Turn: 1,
		NewBelow: func(floodmark.NodeID, bool, bool) bool { return false },
	}
}

// A grant is bound to everything that was shown. Each line changes one thing.
func TestGrantCoversOnlyWhatWasShown(t *testing.T) {
	shown := shownCall("exec", "x")
	shown.Pattern = "exec p"
	grants := map[floodmark.GrantScope]floodmark.GrantGiven{
		floodmark.GrantOnce:    {Scope: floodmark.GrantOnce, Shown: shown, Turn: 1, Until: at(5)},
		floodmark.GrantTurn:    {Scope: floodmark.GrantTurn, Shown: shown, Turn: 1},
		floodmark.GrantMinutes: {Scope: floodmark.GrantMinutes, Shown: shown, Turn: 1, Until: at(5)},
		floodmark.GrantPattern: {Scope: floodmark.GrantPattern, Shown: shown, Turn: 1, Until: at(5)},
		floodmark.GrantTool:    {Scope: floodmark.GrantTool, Shown: shown, Turn: 1},
	}
	all := "once turn minutes pattern tool"
	for name, c := range map[string]struct {
		change func(*approval.Wanted)
		covers string
	}{
		"nothing":      {func(*approval.Wanted) {}, all},
		"tool":         {func(w *approval.Wanted) { w.Tool.Name = "send" }, ""},
		"server":       {func(w *approval.Wanted) { w.Tool.Server = "evil" }, ""},
		"arguments":    {func(w *approval.Wanted) { w.ArgsDigest = floodmark.DigestOf("y") }, "pattern tool"},
		"pattern":      {func(w *approval.Wanted) { w.Pattern = "exec q" }, "once turn minutes tool"},
		"no pattern":   {func(w *approval.Wanted) { w.Pattern = "" }, "once turn minutes tool"},
		"turn":         {func(w *approval.Wanted) { w.Turn = 2 }, "once minutes pattern"},
		"time":         {func(w *approval.Wanted) { w.At = at(5) }, "turn tool"},
		"secrecy":      {func(w *approval.Wanted) { w.Mark.Secrecy = floodmark.Secret }, ""},
		"more open":    {func(w *approval.Wanted) { w.Mark.Secrecy = floodmark.Public }, all},
		"new reason":   {func(w *approval.Wanted) { w.Codes = append(w.Codes, floodmark.FlowSecret) }, ""},
		"fewer":        {func(w *approval.Wanted) { w.Codes = nil }, all},
		"new source":   {func(w *approval.Wanted) { w.NewBelow = func(n floodmark.NodeID, _, _ bool) bool { return n == 3 } }, ""},
		"nobody knows": {func(w *approval.Wanted) { w.NewBelow = nil }, ""},
	} {
		for scope, g := range grants {
			var b approval.Book
			b.Give(g)
			w := want(shown)
			w.Codes = append([]floodmark.Code(nil), w.Codes...)
			c.change(&w)
			_, got := b.Covers(w)
			if expected := strings.Contains(" "+c.covers+" ", " "+string(scope)+" "); got != expected {
				t.Errorf("%s, changed %s: covers = %v", scope, name, got)
			}
		}
	}
	var none approval.Book
	none.Give(floodmark.GrantGiven{Scope: "for ever", Shown: shown, Turn: 1})
	if _, ok := none.Covers(want(shown)); ok {
		t.Error("an unknown scope covers something")
	}
	if _, ok := (&approval.Book{}).Covers(approval.Wanted{NewBelow: func(floodmark.NodeID, bool, bool) bool { return false }}); ok {
		t.Error("the zero book covers something")
	}
}

func TestBookLifecycle(t *testing.T) {
	one, two := shownCall("exec", "1"), shownCall("send", "2")
	var b approval.Book
	b.Open(opened("t1", "00000001", one), 4)
	b.Extend(floodmark.TicketExtended{Ticket: "t1", Shown: two})
	if o, ok := b.Asked(two.Tool, two.ArgsDigest, at(0)); !ok || o.ID != "t1" {
		t.Error("the added call is not asked about")
	}
	if _, ok := b.Asked(two.Tool, one.ArgsDigest, at(0)); ok {
		t.Error("other arguments count as asked")
	}
	if _, ok := b.Asked(two.Tool, two.ArgsDigest, at(2)); ok {
		t.Error("an expired question counts as asked")
	}
	b.Refuse(floodmark.TicketRefused{})
	b.Refuse(floodmark.TicketRefused{Ticket: "t1"})
	b.Refuse(floodmark.TicketRefused{Ticket: "t9"})
	if b.Tickets[0].Wrong != 2 {
		t.Errorf("%d wrong tries, want 2", b.Tickets[0].Wrong)
	}
	b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: floodmark.GrantTurn, Shown: one, Turn: 4})
	if _, ok := b.Asked(one.Tool, one.ArgsDigest, at(0)); ok || len(b.Tickets) != 1 {
		t.Error("an approved call is still asked about, or the other call no longer is")
	}
	b.Answer(floodmark.TicketAnswered{Ticket: "t1", Verdict: floodmark.Restrict})
	if len(b.Tickets) != 0 || len(b.Grants) != 0 || !b.Denied(two.Tool, two.ArgsDigest, false) || b.Denied(two.Tool, one.ArgsDigest, false) {
		t.Errorf("after a deny: %+v", b)
	}
	b.CloseTurn()
	if b.Denied(two.Tool, two.ArgsDigest, false) {
		t.Error("a deny outlives its turn")
	}
}

func TestGrantsEnd(t *testing.T) {
	s := shownCall("exec", "1")
	var b approval.Book
	b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: floodmark.GrantOnce, Shown: s, Until: at(5)})
	b.Give(floodmark.GrantGiven{Ticket: "t2", Scope: floodmark.GrantTurn, Shown: s})
	b.Give(floodmark.GrantGiven{Ticket: "t3", Scope: floodmark.GrantMinutes, Shown: s, Until: at(5)})
	b.Use(floodmark.GrantUsed{Ticket: "t2", Tool: s.Tool}, 9)
	if len(b.Grants) != 3 {
		t.Error("a turn's grant is used up by one call")
	}
	b.CloseTurn()
	if len(b.Grants) != 2 || b.Grants[0].Ticket != "t1" || b.Grants[1].Ticket != "t3" {
		t.Errorf("after the turn: %+v", b.Grants)
	}
	b.Use(floodmark.GrantUsed{Ticket: "t1", Tool: s.Tool}, 9)
	b.End("t3")
	if b.Grants != nil {
		t.Errorf("after use and end: %+v", b.Grants)
	}
	b.Give(floodmark.GrantGiven{Ticket: "t4", Scope: floodmark.GrantTurn, Shown: s})
	b.Open(opened("t5", "00000001", s), 1)
	b.Void()
	if len(b.Grants)+len(b.Tickets) != 0 {
		t.Error("a cleared context leaves grants or questions")
	}
}

func TestBookIsBounded(t *testing.T) {
	var b approval.Book
	for i := range approval.MaxTickets + 5 {
		b.Open(opened(floodmark.TicketID(rune('a'+i)), "00000001", shownCall("x", "y")), 1)
	}
	for range approval.MaxGrants + 5 {
		b.Give(floodmark.GrantGiven{Scope: floodmark.GrantTurn})
	}
	if len(b.Tickets) != approval.MaxTickets || len(b.Grants) != approval.MaxGrants {
		t.Errorf("%d tickets, %d grants", len(b.Tickets), len(b.Grants))
	}
	if b.Tickets[0].ID != floodmark.TicketID(rune('a'+5)) {
		t.Error("the oldest question did not give way")
	}
	for range 3 {
		b.Extend(floodmark.TicketExtended{Ticket: b.Tickets[1].ID, Shown: shownCall("x", "again")})
	}
	if n := len(b.Tickets[1].Shown); n != 2 {
		t.Errorf("the same call stands %d times under one question", n-1)
	}
}

// A grant for exactly the shown call stays valid although other people's words were read and
// although its own result is private, until another call changes something. Wider grants do not. No
// grant stays valid after secrets were read, or for a call that takes further commands.
func TestGrantsThatHoldOverNewContent(t *testing.T) {
	shown, hear := shownCall("exec", "x"), (*approval.Book).Hear
	spoken := func(w *approval.Wanted) {
		w.Mark.Trust, w.Loads = floodmark.Untrusted, floodmark.System
		w.NewBelow = func(_ floodmark.NodeID, drawn, _ bool) bool { return !drawn }
	}
	but := func(change func(*approval.Wanted)) func(*approval.Wanted) {
		return func(w *approval.Wanted) { spoken(w); change(w) }
	}
	shown.Mark = floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Private}
	for name, c := range map[string]struct {
		scope  floodmark.GrantScope
		before func(*approval.Book) // while the question is open
		after  func(*approval.Book) // after it was approved
		want   func(*approval.Wanted)
		holds  bool
	}{
		"nothing happened":             {scope: floodmark.GrantMinutes, holds: true},
		"before the yes":               {floodmark.GrantMinutes, hear, nil, spoken, true},
		"after it":                     {floodmark.GrantMinutes, nil, hear, spoken, true},
		"for a turn":                   {floodmark.GrantTurn, hear, nil, spoken, true},
		"once":                         {floodmark.GrantOnce, hear, nil, spoken, true},
		"a pattern":                    {floodmark.GrantPattern, hear, nil, spoken, false},
		"the tool":                     {floodmark.GrantTool, nil, hear, spoken, false},
		"nobody spoke":                 {floodmark.GrantMinutes, nil, nil, spoken, false},
		"its arguments hold the words": {floodmark.GrantMinutes, hear, nil, but(func(w *approval.Wanted) { w.NewBelow = func(floodmark.NodeID, bool, bool) bool { return true } }), false},
		"it loads what others wrote":   {floodmark.GrantMinutes, hear, nil, but(func(w *approval.Wanted) { w.Loads = floodmark.Untrusted }), false},
		"something secret came in":     {floodmark.GrantMinutes, hear, nil, but(func(w *approval.Wanted) { w.Mark.Secrecy = floodmark.Secret }), false},
		"a new reason":                 {floodmark.GrantMinutes, hear, nil, but(func(w *approval.Wanted) { w.Codes = append(w.Codes, floodmark.FlowPrivate) }), false},
		"changed before the yes":       {floodmark.GrantMinutes, func(b *approval.Book) { b.Hear(); b.Changed("", floodmark.Digest{}) }, nil, spoken, false},
		"heard again after that":       {floodmark.GrantMinutes, func(b *approval.Book) { b.Hear(); b.Changed("", floodmark.Digest{}); b.Hear() }, nil, spoken, false},
		"changed after it":             {floodmark.GrantMinutes, hear, func(b *approval.Book) { b.Changed("", floodmark.Digest{}) }, nil, false},
		"changed by itself":            {floodmark.GrantMinutes, hear, func(b *approval.Book) { b.Changed("t1", shown.ArgsDigest) }, spoken, true},
		"changed, nobody spoke":        {floodmark.GrantMinutes, nil, func(b *approval.Book) { b.Changed("", floodmark.Digest{}) }, nil, true},
	} {
		var b approval.Book
		b.Open(opened("t1", "c", shown), 1)
		if c.before != nil {
			c.before(&b)
		}
		b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: c.scope, Shown: shown, Turn: 1, Until: at(5)})
		if c.after != nil {
			c.after(&b)
		}
		w := want(shown)
		if c.want != nil {
			c.want(&w)
			b.Sink(w.Mark)
		}
		if _, holds := b.Covers(w); holds != c.holds {
			t.Errorf("%s: it holds: %v", name, holds)
		}
	}
}

func TestGrantsOverTheirOwnResult(t *testing.T) {
	for name, c := range map[string]struct {
		scope floodmark.GrantScope
		call  floodmark.CallID
		label floodmark.Label
		codes []floodmark.Code
		more  floodmark.Code
		then  func(*approval.Book)
		holds bool
	}{
		"its own":              {scope: floodmark.GrantMinutes, call: "c1", more: floodmark.FlowPrivate, holds: true},
		"for a turn":           {scope: floodmark.GrantTurn, call: "c1", more: floodmark.FlowFetch, holds: true},
		"another call's":       {scope: floodmark.GrantMinutes, call: "c2"},
		"nobody's":             {scope: floodmark.GrantMinutes},
		"a pattern":            {scope: floodmark.GrantPattern, call: "c1"},
		"secrets in it":        {scope: floodmark.GrantMinutes, call: "c1", label: floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Secret}},
		"another reason":       {scope: floodmark.GrantMinutes, call: "c1", more: floodmark.RuleMatched},
		"changed since":        {scope: floodmark.GrantMinutes, call: "c1", then: func(b *approval.Book) { b.Changed("t2", floodmark.Digest{}) }},
		"takes more commands":  {scope: floodmark.GrantMinutes, call: "c1", codes: []floodmark.Code{floodmark.Interactive}},
		"changed by its calls": {scope: floodmark.GrantMinutes, call: "c1", then: func(b *approval.Book) { b.Changed("t1", shownCall("exec", "x").ArgsDigest) }, holds: true},
	} {
		shown := shownCall("exec", "x")
		shown.Mark.Secrecy, shown.Codes = floodmark.Internal, append(shown.Codes, c.codes...)
		label := floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private}
		if c.label != (floodmark.Label{}) {
			label = c.label
		}
		var b approval.Book
		b.Give(floodmark.GrantGiven{Ticket: "t1", Scope: c.scope, Shown: shown, Turn: 1, Until: at(5)})
		b.Use(floodmark.GrantUsed{Ticket: "t1", Call: "c1", Tool: shown.Tool}, 4)
		b.Gave(c.call, label)
		if c.then != nil {
			c.then(&b)
		}
		w := want(shown)
		if w.Mark = w.Mark.Join(label); c.more != "" {
			w.Codes = append(w.Codes, c.more)
		}
		b.Sink(w.Mark)
		if _, holds := b.Covers(w); holds != c.holds {
			t.Errorf("%s: it holds: %v", name, holds)
		}
	}
}
