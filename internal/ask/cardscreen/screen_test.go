package cardscreen_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/internal/ask/cardscreen"
	"github.com/floodmark/floodmark/wire"
)

// A desk is a screen with a clock that the test moves forward.
type desk struct {
	cardscreen.Screen
	at time.Time
}

func newDesk() *desk {
	d := &desk{at: time.Unix(1000, 0)}
	d.Now = func() time.Time { return d.at }
	return d
}

// draws draws the screen, and waits for as long as a reader needs to look at it.
func (d *desk) draws(width, height int) string {
	text := join(d.Draw(width, height))
	d.at = d.at.Add(cardscreen.Moment)
	return text
}

func join(rows []cardscreen.Row) string {
	var list []string
	for _, r := range rows {
		list = append(list, r.Text)
	}
	return strings.Join(list, "\n")
}

func asked(ticket, command string) *wire.Question {
	return &wire.Question{
		Ticket: ticket, Session: "s", Code: "c0de" + ticket, Seen: "seen " + command, Expires: timestamppb.New(time.Unix(2000, 0)),
		Calls: []*wire.AskedCall{{
			What: "pi wants to run: “" + command + "”", Why: "It had read “docs.example” (anyone can write there).",
			Card: []string{"pi wants to run a program", "Command: “" + command + "”", "After a yes: code runs."}, Offers: []*wire.Offer{{Words: "this call, once"}, {Words: "the same for 30 min"}},
		}},
	}
}

func (d *desk) press(t *testing.T, key string) *wire.AnswerRequest {
	t.Helper()
	r, _ := d.Key(key)
	return r
}

func TestACardIsTwoLinesAndKeys(t *testing.T) {
	d := newDesk()
	d.Put(asked("t1", "go test ./..."))
	want := "pi wants to run: “go test ./...”\nWhy: It had read “docs.example” (anyone can write there).\ny yes · n no · d details and longer answers · 16m40s left"
	if got := d.draws(80, 20); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	r := d.press(t, "y")
	if r.GetVerb() != "approve" || r.GetCode() != "c0det1" || r.GetOffer() != 1 {
		t.Errorf("%v", r)
	}
	d.draws(80, 20)
	if r := d.press(t, "n"); r.GetVerb() != "deny" || r.GetTicket() != "t1" {
		t.Errorf("%v", r)
	}
}

// The owner's own words are on each card, in one row. The reason gives up its second row for them,
// and says at its end if it is cut. A card never has more than six rows.
func TestACardWithTheOwnersWords(t *testing.T) {
	q := asked("t1", "go test ./...")
	one := q.GetCalls()[0]
	one.Asked, one.Why = "Fix issue 12\nWhy: "+strings.Repeat("really ", 40), "It had read "+strings.Repeat("much ", 60)
	rows := cardscreen.Card(q, 80, 0)
	text := join(rows)
	if !strings.Contains(text, "\nYou had said: “Fix issue 12⏎Why: really") || strings.Count(text, " … (d)") != 2 || len(rows) != 5 {
		t.Errorf("%d rows:\n%s", len(rows), text)
	}
	for _, r := range rows {
		if lipgloss.Width(r.Text) > 80 {
			t.Errorf("%d columns: %s", lipgloss.Width(r.Text), r.Text)
		}
	}
	one.What = strings.Repeat("long ", 80)
	if rows := cardscreen.Card(q, 80, 0); len(rows) != cardscreen.MaxRows || !strings.HasPrefix(rows[4].Text, "You had said") || !strings.HasPrefix(rows[3].Text, "Why: It had read much") {
		t.Errorf("%d rows:\n%s", len(rows), join(rows))
	}
}

// The characters of a command that do not fit are counted exactly, and a yes is refused until the
// end of the command was shown.
func TestAYesCoversWhatWasShown(t *testing.T) {
	d := newDesk()
	long := "echo " + strings.Repeat("0123456789", 100) + "; rm -rf middle; echo end"
	d.Put(asked("t1", long))
	card := d.draws(80, 20)
	rows := strings.Split(card, "\n")
	if len(rows) > cardscreen.MaxRows {
		t.Errorf("%d rows:\n%s", len(rows), card)
	}
	shown := len([]rune(rows[0])) + len([]rune(strings.TrimPrefix(rows[1], "↳ ")))
	if want := fmt.Sprintf("↳ … %d more characters: d shows them", len([]rune("pi wants to run: “"+long+"”"))-shown); rows[2] != want {
		t.Errorf("%q, want %q", rows[2], want)
	}
	if d.press(t, "y") != nil || d.press(t, "2") != nil || !strings.Contains(d.Notice, "Press d first") {
		t.Errorf("a yes to what nobody saw: %q", d.Notice)
	}
	all := ""
	d.press(t, "d")
	for page := range 20 {
		text := d.draws(80, 8)
		all += text + "\n"
		if !strings.Contains(text, "page ") {
			if page < 2 {
				t.Fatalf("%d pages", page+1)
			}
			break
		}
		if d.press(t, "y") != nil {
			t.Fatalf("a yes on page %d", page+1)
		}
		d.press(t, "space")
	}
	for _, part := range []string{"rm -rf middle", "After a yes: code runs.", "2: yes to the same for 30 min"} {
		if !strings.Contains(strings.NewReplacer("\n↳ ", "").Replace(all), part) {
			t.Errorf("%q is on no page:\n%s", part, all)
		}
	}
	if r := d.press(t, "y"); r.GetVerb() != "approve" {
		t.Errorf("read, and: %v, %q", r, d.Notice)
	}
}

// The pages depend on the size of the screen. With another size, reading starts again.
func TestPagesAfterAResize(t *testing.T) {
	d := newDesk()
	d.Put(asked("t1", strings.Repeat("x", 2000)))
	d.draws(80, 8)
	d.press(t, "d")
	first := d.draws(80, 8)
	for range 2 {
		d.press(t, "space")
		d.draws(80, 8)
	}
	if got := d.draws(60, 8); !strings.HasPrefix(got, "pi wants to run: “xxx") || first == got {
		t.Errorf("after a resize:\n%s", got)
	}
	if d.press(t, "y") != nil {
		t.Error("a yes after a resize")
	}
	for range 60 { // a key that is pressed faster than pages are drawn skips none
		d.press(t, "space")
	}
	if got := d.draws(60, 8); !strings.Contains(got, "page 2 of") || d.press(t, "y") != nil {
		t.Errorf("pages were passed over:\n%s", got)
	}
	for range 60 {
		if got := d.draws(60, 8); strings.Contains(got, "d: the card again") {
			break
		}
		d.press(t, "space")
	}
	d.draws(90, 8) // read to the end, then the size changes
	if d.press(t, "y") != nil {
		t.Error("a yes to pages of another size")
	}
}

// A key answers only a card that was on the screen for at least a moment.
func TestAKeyAnswersWhatWasDrawn(t *testing.T) {
	d := newDesk()
	if r, taken := d.Key("y"); r != nil || taken {
		t.Errorf("an empty screen: %v", r)
	}
	d.Put(asked("t1", "ls"))
	if d.press(t, "y") != nil {
		t.Error("a yes before anything was drawn")
	}
	d.Draw(80, 20)
	if d.press(t, "y") != nil || d.press(t, "n") != nil {
		t.Error("an answer in the moment in which the card came")
	}
	d.at = d.at.Add(cardscreen.Moment - 1)
	if d.press(t, "y") != nil {
		t.Error("too early")
	}
	d.at = d.at.Add(1)
	if r := d.press(t, "y"); r.GetCode() != "c0det1" {
		t.Errorf("%v", r)
	}
	d.draws(80, 20)
	d.Put(asked("t2", "rm -rf /"))
	if got := d.draws(80, 20); !strings.Contains(got, "“ls”") {
		t.Errorf("another card took the place of the one that is read:\n%s", got)
	}
	d.Drop(func(q *wire.Question) bool { return q.GetTicket() == "t1" })
	if d.press(t, "y") != nil {
		t.Error("a yes to a card that was not drawn")
	}
	d.Draw(80, 20)
	if d.press(t, "y") != nil {
		t.Error("a yes to a card that has just taken the place of another")
	}
	changed := asked("t2", "rm -rf /")
	changed.Seen = "other"
	d.draws(80, 20)
	d.Put(changed)
	if d.press(t, "y") != nil {
		t.Error("a yes to what has changed since it was drawn")
	}
	for _, size := range [][2]int{{80, 2}, {20, 20}, {0, 0}} {
		if got := d.draws(size[0], size[1]); strings.Contains(got, "rm") || d.press(t, "y") != nil {
			t.Errorf("a yes on a screen of %v:\n%s", size, got)
		}
	}
}

// A call that cannot be shown cannot be approved. Nor can a call of which the monitor sends
// nothing.
func TestNoYesWithoutTheCall(t *testing.T) {
	for name, change := range map[string]func(q *wire.Question){
		"lost":      func(q *wire.Question) { q.Calls[0].Lost = 7 },
		"no words":  func(q *wire.Question) { q.Calls[0].Card = nil },
		"no code":   func(q *wire.Question) { q.Code = "" },
		"two calls": func(q *wire.Question) { q.Calls = append(q.Calls, q.Calls[0]) },
		"more":      func(q *wire.Question) { q.Calls[0].More = true },
		"older":     func(q *wire.Question) { q.Calls[0].What = "" },
	} {
		d := newDesk()
		q := asked("t1", "ls")
		change(q)
		d.Put(q)
		d.draws(80, 20)
		if r := d.press(t, "y"); r != nil || d.Notice == "" {
			t.Errorf("%s: %v", name, r)
		}
		d.draws(80, 20)
		if r := d.press(t, "n"); r.GetVerb() != "deny" {
			t.Errorf("%s cannot be denied", name)
		}
	}
}

// The newest question that an agent waits for comes first. Questions of ended turns are removed.
func TestWhichCardComesFirst(t *testing.T) {
	d := newDesk()
	old, newer := asked("t1", "old"), asked("t2", "newer")
	newer.Expires = timestamppb.New(time.Unix(2001, 0))
	over := asked("t3", "over")
	over.Expires, over.Over = timestamppb.New(time.Unix(2002, 0)), true
	d.Put(old)
	d.Drop(func(*wire.Question) bool { return true })
	for _, q := range []*wire.Question{over, old, newer} {
		d.Put(q)
	}
	if n, older := d.Waiting(); n != 2 || older != 1 {
		t.Errorf("%d wait, %d are older", n, older)
	}
	d.Key("down")
	if d.Question().GetTicket() != "t2" {
		t.Errorf("shown is %s", d.Question().GetTicket())
	}
	ended := asked("t2", "newer")
	ended.Over = true
	d.Put(ended)
	if d.Question().GetTicket() != "t1" {
		t.Errorf("shown is %s", d.Question().GetTicket())
	}
	d.at = time.Unix(2000, 0)
	if d.Expire(); d.Question() != nil {
		t.Error("a question outlives its time")
	}
}

// In a fleet an answer names the ticket. If a place has to be named, it is typed.
func TestAtAFleet(t *testing.T) {
	d := newDesk()
	d.Fleet = true
	q := asked("t1", "ls")
	q.Code, q.Calls[0].More, q.Calls[0].Pick = "", true, &wire.Pick{Words: "type its end"}
	d.Put(q)
	d.draws(80, 30)
	d.press(t, "d")
	d.draws(80, 30)
	if d.press(t, "y") != nil || !strings.Contains(d.draws(80, 30), "Where does it go?") {
		t.Fatal("no place is asked for")
	}
	for _, k := range []string{"a", "é", "backspace", "space", "b"} {
		d.press(t, k)
	}
	if r := d.press(t, "enter"); r.GetTicket() != "t1" || r.GetSeen() != q.GetSeen() || r.GetCalls() != 1 || r.GetPicked() != "a b" || r.GetCode() != "" {
		t.Errorf("%v", r)
	}
}

// A card has at most six rows of so many columns, whatever the question says, and only rows that
// begin a text have no mark.
func FuzzCard(f *testing.F) {
	f.Add("rm -rf 界界界\nWhy: all is well\ny yes", "page\n$ ls", 80)
	f.Fuzz(func(t *testing.T, what, why string, width int) {
		q := asked("t1", what)
		q.Calls[0].Why = why
		width = 40 + max(0, width)%100
		rows := cardscreen.Card(q, width, time.Minute)
		first := 0
		for _, r := range rows {
			if lipgloss.Width(r.Text) > width || strings.ContainsAny(r.Text, "\n\r\x1b") {
				t.Errorf("%q in %d columns", r.Text, width)
			}
			if !strings.HasPrefix(r.Text, "↳ ") {
				first++
			}
		}
		if len(rows) > cardscreen.MaxRows || first != 3 {
			t.Errorf("%d rows, %d begin: %v", len(rows), first, rows)
		}
	})
}
