package telegram_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/ask/telegram"
	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
)

func TestAQuestionIsAskedAndAnswered(t *testing.T) {
	for label, want := range map[string]struct {
		verb  approval.Verb
		offer int
		head  string
	}{
		"Deny":           {approval.Deny, 0, "Denied by user 4711 in Telegram"},
		"Allow once":     {approval.Approve, 1, "Allowed by user 4711 in Telegram"},
		"Allow more (1)": {approval.Approve, 2, "Allowed by user 4711 in Telegram"},
	} {
		t.Run(label, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, setup{})
				q := d.ticket("t-1")
				q.Call.Offers[1].Words = "every `npm test` in the folder of this project"
				d.ask(t, q)
				card := d.card(t)
				if !slices.Equal(card.Labels, []string{"Deny", "Allow once", "Allow more (1)"}) {
					t.Errorf("buttons %q: deny comes first, then the narrowest", card.Labels)
				}
				if !strings.Contains(card.Text, "Allow more (1): every `npm test` in the folder of this project, for 2 hours") {
					t.Errorf("what a button would cut does not stand in the text: %s", card.Text)
				}
				if strings.Contains(card.Body, "c0dec0de") || strings.Contains(card.Body, "parse_mode") {
					t.Errorf("a code or a parse mode was sent: %s", card.Body)
				}
				told := d.press(t, anna, label)
				got := d.answered()[0]
				if got.Verb != want.verb || got.Offer != want.offer || got.Ticket != "t-1" || got.Calls != 1 || got.Tool != approval.All ||
					got.By != "telegram:4711" || got.Channel != "telegram" || got.Code != "" {
					t.Errorf("answered %+v", got)
				}
				if d.sessions[0].ID != "codex:t-1" || told.Alert {
					t.Errorf("session %v, told %+v", d.sessions[0], told)
				}
				d.until(t, "the card to say so", func() bool { return strings.HasPrefix(d.card(t).Text, want.head) && len(d.card(t).Labels) == 0 })
			})
		})
	}
}

// Other members of the chat cannot answer, even with a modified app.
func TestStrangersAnswerNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{who: telegram.Audience{Chat: group, Users: []int64{anna}}})
		d.ask(t, d.ticket("t-1"))
		card := d.card(t)
		told := d.press(t, mallory, "Allow once")
		if told.Text != "You are not authorised to answer this question." || !told.Alert {
			t.Errorf("a stranger is told %+v", told)
		}
		if got := <-d.incidents; !strings.Contains(got, "telegram-stranger: user 666") {
			t.Errorf("incident %q", got)
		}
		for name, press := range map[string]string{
			"another chat": d.server.PressData(anna, anna, card.ID, card.Data[1]),
			"no chat":      d.server.PressData(anna, 0, card.ID, card.Data[1]),
		} {
			if told := d.told(t, press); !strings.Contains(told.Text, "not authorised") {
				t.Errorf("%s: told %+v", name, told)
			}
		}
		if list := d.answered(); len(list) != 0 {
			t.Errorf("answered %+v", list)
		}
		if told := d.press(t, anna, "Deny"); told.Text != "Denied." {
			t.Errorf("the right person in the group is told %+v", told)
		}
	})
}

// Presses by a bot, a press without a message, and arbitrary bytes.
func TestForgedButtonsAnswerNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		d.ask(t, d.ticket("t-1"))
		other := d.ticket("t-2")
		d.ask(t, other)
		list := d.server.Messages()
		one, two := list[0], list[1]
		tail := func(data string) string { return data[strings.LastIndex(data, "."):] }
		swap := func(data string, i int) string {
			b := []byte(data)
			b[i] ^= 1
			return string(b)
		}
		forged := map[string]string{
			"another question's proof": strings.TrimSuffix(one.Data[1], tail(one.Data[1])) + tail(two.Data[1]),
			"deny's proof turned":      swap(one.Data[1], len(one.Data[1])-1),
			"no proof":                 strings.TrimSuffix(one.Data[1], tail(one.Data[1])) + "." + strings.Repeat("A", 16),
		}
		for name, data := range forged {
			told := d.told(t, d.server.PressData(anna, anna, one.ID, data))
			if !strings.Contains(told.Text, "out of date") || !told.Alert {
				t.Errorf("%s: told %+v", name, told)
			}
			if got := <-d.incidents; !strings.Contains(got, "telegram-button") {
				t.Errorf("%s: incident %q", name, got)
			}
		}
		if list := d.answered(); len(list) != 0 {
			t.Errorf("answered %+v", list)
		}
	})
}

// With a pick each destination is a button, there is no wide offer, and the text does not reveal
// the right one.
func TestAPick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		q := d.ticket("t-1")
		q.Call.Pick = &approval.Pick{Argument: "command", Among: []string{"wrong@a.example", "right@b.example", "wrong@c.example"}}
		q.Call.Action.Arguments[0].Shown = "right@b.example"
		q.Call.Action.Arguments = append(q.Call.Action.Arguments, floodmark.Argument{Path: "cc", Shown: "also right@b.example"})
		q.Call.Consequence = `It goes out to "right@b.example" and cannot be called back.`
		d.ask(t, q)
		card := d.card(t)
		if !slices.Equal(card.Labels, []string{"Deny", "wrong@a.example", "right@b.example", "wrong@c.example"}) {
			t.Errorf("buttons %q", card.Labels)
		}
		if strings.Contains(card.Text, "right@") {
			t.Errorf("the text gives it away: %s", card.Text)
		}
		if told := d.press(t, anna, "wrong@c.example"); told.Text != "That is not where it goes." {
			t.Errorf("a wrong pick is told %+v", told)
		}
		if told := d.press(t, anna, "right@b.example"); told.Text != "Approved." {
			t.Errorf("the right pick is told %+v", told)
		}
		if got := d.answered(); got[0].Picked != "wrong@c.example" || got[1].Picked != "right@b.example" || got[1].Offer != 1 {
			t.Errorf("answered %+v", got)
		}
	})
}

// A card that cannot show everything offers only deny.
func TestWhatCannotBeShownCannotBeAllowed(t *testing.T) {
	for name, change := range map[string]func(*approval.Ticket){
		"a value to be typed":       func(q *approval.Ticket) { q.Call.Pick = &approval.Pick{Argument: "command"} },
		"two that look the same":    func(q *approval.Ticket) { q.Call.Pick = &approval.Pick{Among: []string{"a", "a", "b"}} },
		"a call that was not shown": func(q *approval.Ticket) { q.Calls = 2 },
		"an empty destination":      func(q *approval.Ticket) { q.Call.Pick = &approval.Pick{Among: []string{"", "a", "b"}} },
		"an argument too many": func(q *approval.Ticket) {
			for i := range 6 {
				q.Call.Action.Arguments = append(q.Call.Action.Arguments, floodmark.Argument{Path: fmt.Sprint("bcc", i), Shown: "x", Role: floodmark.Critical, Whence: floodmark.Nowhere})
			}
		},
		"two alike but for their middle": func(q *approval.Ticket) {
			long := strings.Repeat("x", 400)
			q.Call.Pick = &approval.Pick{Among: []string{long + "1" + long, long + "2" + long, "c"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, setup{})
				q := d.ticket("t-1")
				change(&q)
				d.ask(t, q)
				if card := d.card(t); len(card.Labels) != 1 || card.Labels[0] != "Deny" || !strings.Contains(card.Text, "floodmark approve") {
					t.Errorf("buttons %q below %s", card.Labels, card.Text)
				}
			})
		})
	}
}

// A call that joins a question makes a new card for all of it, and the old card is not valid any
// more.
func TestAQuestionGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		q := d.ticket("t-1")
		d.ask(t, q)
		old := d.card(t)
		q.Call, q.Calls = question("rm -r build"), 2
		d.ask(t, q)
		card := d.card(t)
		if !slices.Equal(card.Labels, []string{"Deny", "Allow all 2, once"}) || !strings.Contains(card.Text, "npm test") || !strings.Contains(card.Text, "rm -r build") {
			t.Errorf("buttons %q below %s", card.Labels, card.Text)
		}
		d.until(t, "the old card to say so", func() bool { return strings.Contains(d.server.Messages()[0].Text, "has grown") })
		told := d.told(t, d.server.PressData(anna, anna, old.ID, old.Data[1]))
		if !strings.Contains(told.Text, "out of date") || len(d.answered()) != 0 {
			t.Errorf("the old card answered: %+v, %+v", told, d.answered())
		}
		d.press(t, anna, "Allow all 2, once")
		if got := d.answered()[0]; got.Calls != 2 || got.Verb != approval.Approve || got.Offer != 1 {
			t.Errorf("answered %+v", got)
		}
	})
}

// A call that is asked again with other sources makes a new card: the old card can only deny.
func TestAQuestionThatChangedIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		q := d.ticket("t-1")
		q.Seen = "one page"
		d.ask(t, q)
		old := d.card(t)
		q.Seen = "two pages"
		d.ask(t, q)
		told := d.told(t, d.server.PressData(anna, anna, old.ID, old.Data[1]))
		if !strings.Contains(told.Text, "out of date") || len(d.answered()) != 0 {
			t.Errorf("the old card answered: %+v, %+v", told, d.answered())
		}
		d.press(t, anna, "Allow once")
		if got := d.answered(); len(got) != 1 || got[0].Verb != approval.Approve || got[0].Seen != "two pages" {
			t.Errorf("answered %+v", got)
		}
		q.ID, q.Seen = "t-2", "one page"
		d.ask(t, q)
		old = d.card(t)
		q.Seen = "two pages"
		d.ask(t, q)
		d.told(t, d.server.PressData(anna, anna, old.ID, old.Data[0]))
		if got := d.answered(); len(got) != 2 || got[1].Verb != approval.Deny || got[1].Ticket != "t-2" {
			t.Errorf("a no at the old card: %+v", got)
		}
	})
}

func TestTheCardSaysHowItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Date(2026, 3, 1, 14, 5, 0, 0, time.UTC)
		for want, o := range map[string]approval.Outcome{
			"Allowed by anna (owner.sock) at 14:05 UTC":      {Verdict: floodmark.Allow, By: "anna", Channel: "owner.sock", At: at},
			"Denied by user 7 in Telegram at 14:05 UTC":      {Verdict: floodmark.Restrict, By: "telegram:7", Channel: "telegram", At: at},
			"Time ran out: not done":                         {Verdict: floodmark.Confirm, Expired: true, At: at},
			"Closed without an answer: too many wrong codes": {Verdict: floodmark.Confirm, By: "too many wrong codes", At: at},
		} {
			d := newDesk(t, setup{})
			q := d.ticket("t-1")
			d.ask(t, q)
			if err := d.channel.Closed(t.Context(), "another", q.ID, o); err != nil || len(d.card(t).Labels) == 0 {
				t.Errorf("another session closed it (%v)", err)
			}
			data := d.card(t).Data[1]
			for range 2 {
				if err := d.channel.Closed(t.Context(), q.Session, q.ID, o); err != nil {
					t.Error(err)
				}
			}
			d.until(t, want, func() bool { return strings.HasPrefix(d.card(t).Text, want+"\n") && len(d.card(t).Labels) == 0 })
			if told := d.told(t, d.server.PressData(anna, anna, d.card(t).ID, data)); !strings.Contains(told.Text, "is over") || len(d.answered()) != 0 {
				t.Errorf("%s: told %+v", want, told)
			}
			if n := d.server.Calls("editMessageText"); n != 1 {
				t.Errorf("%s: edited %d times", want, n)
			}
			d.stop()
		}
	})
}

func TestTimeRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		d.ask(t, d.ticket("t-1"))
		d.skip(2*time.Minute - time.Second)
		if card := d.card(t); len(card.Labels) == 0 {
			t.Errorf("ended early: %s", card.Text)
		}
		d.skip(2 * time.Second)
		d.until(t, "the card to say so", func() bool { return strings.HasPrefix(d.card(t).Text, "Time ran out: not done") })
	})
}

// An answer that cannot be recorded does not count, and the card says so.
func TestAnAnswerThatIsNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		d.ask(t, d.ticket("t-1"))
		d.broken = true
		if told := d.press(t, anna, "Allow once"); !strings.Contains(told.Text, "could not be recorded") || !told.Alert {
			t.Errorf("told %+v", told)
		}
		d.mu.Lock()
		d.broken = false
		d.mu.Unlock()
		if told := d.press(t, anna, "Allow once"); told.Text != "Approved." {
			t.Errorf("told %+v", told)
		}
	})
}

func TestAudience(t *testing.T) {
	for want, a := range map[string]telegram.Audience{
		"":                                  {Chat: anna, Users: []int64{anna, 7}},
		"chatId: say where":                 {Users: []int64{anna}},
		"allowedUserIds: say who":           {Chat: anna},
		"allowedUserIds: a user's number":   {Chat: group, Users: []int64{anna, group}},
		"chatId: this person is asked but ": {Chat: anna, Users: []int64{7}},
	} {
		err := a.Check()
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %v, want %q", a, err, want)
		}
	}
	if err := (telegram.Audience{Chat: group, Users: []int64{anna}}).Check(); err != nil {
		t.Error(err)
	}
}

// Other tenants' questions do not go to this chat, and names too long for a button are refused.
func TestWhoseQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		q := d.ticket("t-1")
		q.Tenant = "firm"
		d.ask(t, q)
		if n := d.server.Calls("sendMessage"); n != 0 {
			t.Errorf("%d cards for another tenant", n)
		}
		d.ask(t, d.ticket(strings.Repeat("t", 38)))
		if n := len(d.card(t).Data[0]); n > 64 {
			t.Errorf("a button carries %d bytes", n)
		}
		if err := d.channel.Ask(t.Context(), d.ticket(strings.Repeat("t", 39))); err == nil {
			t.Error("a name of 39 bytes was taken")
		}
	})
}

// What the owner stated, and long text, may be left out; a secret is mentioned but not shown.
func TestWhatMayBeLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		q := d.ticket("t-1")
		for range 6 {
			q.Call.Action.Arguments = append(q.Call.Action.Arguments, floodmark.Argument{Path: "mine", Shown: "x", Role: floodmark.Critical, Whence: floodmark.Stated},
				floodmark.Argument{Path: "body", Role: floodmark.Content, Whence: floodmark.Nowhere})
		}
		q.Call.Action.Arguments = append(q.Call.Action.Arguments, floodmark.Argument{Path: "token", Role: floodmark.Critical, Whence: floodmark.Nowhere})
		d.ask(t, q)
		card := d.card(t)
		if len(card.Labels) != 3 || !strings.Contains(card.Text, "Token: not shown, it may be a secret") || !strings.Contains(card.Text, "6 mine: each x (your own words)") || strings.Contains(card.Text, "body") {
			t.Errorf("buttons %q below %s", card.Labels, card.Text)
		}
	})
}

// If an answer comes before its question, no open card remains.
func TestAnAnswerOvertakesItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		q := d.ticket("t-1")
		if err := d.channel.Closed(t.Context(), q.Session, q.ID, approval.Outcome{Verdict: floodmark.Allow}); err != nil {
			t.Fatal(err)
		}
		d.ask(t, q)
		if n := len(d.server.Messages()); n != 0 {
			t.Errorf("%d cards", n)
		}
	})
}

// A card that is answered before Telegram has confirmed it shows its question's outcome, like any
// other.
func TestAnAnswerMeetsItsCardOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		q := d.ticket("t-1")
		closed := make(chan error, 1)
		d.server.Break(func(method string, _ int) *bottest.Fault {
			if method == "sendMessage" {
				closed <- d.channel.Closed(t.Context(), q.Session, q.ID, approval.Outcome{Verdict: floodmark.Restrict, By: "telegram:7", Channel: "telegram"})
			}
			return nil
		})
		d.ask(t, q)
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
		d.until(t, "it says how it ended", func() bool {
			return strings.HasPrefix(d.card(t).Text, "Denied by user 7 in Telegram") && len(d.card(t).Labels) == 0
		})
	})
}
