package telegram_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
	"github.com/floodmark/floodmark/verify"
)

// The bot waits in one request, for button presses only, and confirms exactly the handled updates.
func TestLongPolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		d.until(t, "a poll", func() bool { return d.server.Calls("getUpdates") > 0 })
		if got := d.server.Last("getUpdates"); got != `{"limit":100,"timeout":25,"allowed_updates":["callback_query","message"]}` {
			t.Errorf("polled with %s", got)
		}
		d.ask(t, d.ticket("t-1"))
		n := d.server.Calls("getUpdates")
		d.press(t, anna, "Deny")
		d.until(t, "the press to be confirmed", func() bool { return len(d.server.Pending()) == 0 })
		if got := d.server.Calls("getUpdates") - n; got > 3 {
			t.Errorf("%d polls for one press", got)
		}
	})
}

// A repeated press, a late press with a smaller number, and a malformed update: each is handled
// once, and none remains.
func TestDuplicatedLateAndSenselessUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		d.ask(t, d.ticket("t-1"))
		d.ask(t, d.ticket("t-2"))
		d.server.Break(func(method string, _ int) *bottest.Fault {
			if method == "getUpdates" {
				return &bottest.Fault{Status: 503}
			}
			return nil
		})
		d.server.Push(2, `{"update_id":2}`) // ends the request that waits; the next meets the fault
		synctest.Wait()
		card := d.server.Messages()[0]
		first := d.server.PressData(anna, anna, card.ID, card.Data[1])
		pending := d.server.Pending()
		body := pending[len(pending)-1]
		d.server.Repeat(body)
		d.server.Push(3, strings.Replace(body, `"update_id":`, `"update_id":3,"was":`, 1)) // after a quiet week
		for i, odd := range []string{
			`{"update_id":900}`, `{"update_id":901,"callback_query":"text"}`, `{"update_id":902,"callback_query":{"id":7}}`, `{"callback_query":{}}`,
			`[]`, `"x"`, `null`, `{"update_id":"x"}`, `{"update_id":-5}`, `{"update_id":903,"callback_query":{"id":"a","data":null,"message":null}}`,
			`{"update_id":904,"message":{"text":"/start"}}`,
		} {
			d.server.Push(int64(900+i), odd)
		}
		d.server.Break(nil)
		d.skip(2 * time.Second) // the bot pauses for a second after the fault
		if told := d.told(t, first); told.Text != "Approved." {
			t.Errorf("told %+v", told)
		}
		d.until(t, "everything that has a number to be confirmed", func() bool {
			return !slices.ContainsFunc(d.server.Pending(), func(s string) bool { return strings.Contains(s, "t-1") })
		})
		if n := len(d.answered()); n > 3 {
			t.Errorf("answered %d times", n)
		}
		second := d.server.PressData(anna, anna, d.server.Messages()[1].ID, d.server.Messages()[1].Data[0])
		if told := d.told(t, second); told.Text != "Denied." {
			t.Errorf("after that, told %+v", told)
		}
	})
}

// Two monitors with one bot: neither takes the other's presses, and each gets all of its own.
func TestTwoMonitorsWithOneBot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := inMemory(t, bottest.InMemory)
		a, b := newDesk(t, setup{server: server, key: "a"}), newDesk(t, setup{server: server, key: "b"})
		const rounds = 3
		for i := range rounds {
			for name, d := range map[string]*desk{"a": a, "b": b} {
				d.ask(t, d.ticket(fmt.Sprintf("%s-%d", name, i)))
			}
		}
		for _, m := range server.Messages() {
			server.PressData(anna, anna, m.ID, m.Data[i(m)])
		}
		a.skip(30 * time.Second) // each looks once a second, and they take turns
		for name, d := range map[string]*desk{"a": a, "b": b} {
			d.until(t, name+" to hear all", func() bool { return len(d.answered()) >= rounds })
			for _, cmd := range d.answered() {
				if !strings.HasPrefix(string(cmd.Ticket), name+"-") {
					t.Errorf("%s answered %s", name, cmd.Ticket)
				}
			}
			if n := len(d.answered()); n != rounds {
				t.Errorf("%s answered %d times, want %d", name, n, rounds)
			}
		}
		a.until(t, "all to be confirmed", func() bool { return len(server.Pending()) == 0 })
		shared := append(a.bot.Problems(), b.bot.Problems()...)
		if len(shared) == 0 || !strings.Contains(shared[0], "another program reads what this bot hears") {
			t.Errorf("status says %q", shared)
		}
		n := server.Calls("getUpdates")
		a.skip(time.Minute)
		if more := server.Calls("getUpdates") - n; more > 2*60 {
			t.Errorf("%d polls in a minute where each looks once a second: they fight", more)
		}
	})
}

// Another program that reads the same bot takes a press first: the call gets no answer, and status
// says why.
func TestAForeignReaderTakesTaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		foreign := client(t, d.server, d.server.URL)
		done := begin(t.Context(), newGate(t, d, 20*time.Second), request())
		card := d.shown(t, 1)
		if _, err := foreign.Updates(t.Context(), 0, 0, "callback_query"); err != nil { // ends our waiting request
			t.Fatal(err)
		}
		synctest.Wait()
		d.server.PressData(anna, anna, card.ID, card.Data[1])
		taken, err := foreign.Updates(t.Context(), 0, 0, "callback_query")
		if err != nil || len(taken) != 1 {
			t.Fatal(taken, err)
		}
		if _, err := foreign.Updates(t.Context(), taken[0].ID+1, 0, "callback_query"); err != nil {
			t.Fatal(err)
		}
		checkGate(t, (<-done).err, verify.TimedOut, "nobody answered in Telegram")
		if said := strings.Join(d.bot.Problems(), "\n"); !strings.Contains(said, "another program reads what this bot hears") {
			t.Errorf("status says %q", said)
		}
	})
}

// i returns the index of a button, so that some presses deny and some allow.
func i(m bottest.Message) int { return int(m.ID % 2) }

// Updates for a monitor that never comes back do not stay for ever, and a flood of them hides
// nothing.
func TestUpdatesWithoutAnOwnerAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		for range 150 {
			d.server.PressData(mallory, anna, 1, "f1zzzzqt-1."+strings.Repeat("A", 16))
		}
		d.ask(t, d.ticket("t-1"))
		press, err := d.server.Press(anna, "Deny")
		if err != nil {
			t.Fatal(err)
		}
		d.skip(5 * time.Second)
		if told := d.told(t, press); told.Text != "Denied." {
			t.Errorf("behind a flood, told %+v", told)
		}
		if n := len(d.server.Pending()); n == 0 {
			t.Error("another's presses were thrown away at once")
		}
		d.skip(5*time.Minute + 2*time.Second)
		d.until(t, "the rest to be let go", func() bool { return len(d.server.Pending()) == 0 })
		if n := len(d.server.Replies()); n != 1 {
			t.Errorf("%d were told something, want 1", n)
		}
	})
}

// Problems are reported, and disappear by themselves.
func TestProblems(t *testing.T) {
	for want, fault := range map[string]*bottest.Fault{
		"another program reads":          {Status: http.StatusConflict, Body: `{"ok":false,"error_code":409,"description":"` + bottest.Conflict + `"}`},
		"the server is in trouble (500)": {Status: 500},
		"the bot token is not accepted":  {Status: 401, Body: `{"ok":false}`},
		"left alone for 2s":              bottest.TooMany(2),
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, setup{})
				d.server.Break(func(method string, _ int) *bottest.Fault {
					if method == "getUpdates" {
						return fault
					}
					return nil
				})
				d.server.Push(1, `{"update_id":1}`) // the bot may be waiting already
				d.until(t, want, func() bool { return strings.Contains(strings.Join(d.bot.Problems(), "\n"), want) })
				for _, p := range d.bot.Problems() {
					if strings.Contains(p, "not-a-token") {
						t.Errorf("the token is in %q", p)
					}
				}
				if fault.Status == 500 {
					d.server.Break(nil)
					d.skip(2 * time.Second)
					d.until(t, "it to be over", func() bool { return len(d.bot.Problems()) == 0 })
				}
			})
		})
	}
	t.Run("webhook", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, setup{})
			d.server.SetWebhook("https://elsewhere.example/")
			d.server.Push(1, `{"update_id":1}`)
			d.until(t, "the web address to be named", func() bool { return strings.Contains(strings.Join(d.bot.Problems(), "\n"), "deleteWebhook") })
		})
	})
}

// A monitor that is killed and started again: a sent card still works, no card is sent twice, and
// cards whose questions are over say so.
func TestARestartInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "state", "telegram.jsonl")
		d := newDesk(t, setup{file: file})
		open, gone := d.ticket("t-open"), d.ticket("t-gone")
		d.ask(t, open)
		d.ask(t, gone)
		card := d.server.Messages()[0]
		d.stop()
		press := d.server.PressData(anna, anna, card.ID, card.Data[2]) // while no daemon listens

		d2 := newDesk(t, setup{server: d.server, file: file, young: true})
		if told := d2.told(t, press); told.Text != "Approved." {
			t.Errorf("told %+v", told)
		}
		if got := d2.answered()[0]; got.Offer != 2 || got.Ticket != "t-open" || got.Verb != approval.Approve {
			t.Errorf("answered %+v", got)
		}
		if n := d.server.Calls("sendMessage"); n != 2 {
			t.Errorf("%d cards were sent, want 2", n)
		}
		d2.until(t, "the card to say so", func() bool { return strings.HasPrefix(d.server.Messages()[0].Text, "Allowed by") })
		again := gone
		again.Again, again.Code = true, "another0"
		d2.ask(t, again)
		d2.skip(3 * time.Minute)
		d2.until(t, "the other card to say that it is over", func() bool { return strings.HasPrefix(d.server.Messages()[1].Text, "This question is over") })
	})
}

// A press for a question that is not asked again yet waits for it.
func TestAPressBeforeItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "telegram")
		d := newDesk(t, setup{file: file})
		q := d.ticket("t-1")
		d.ask(t, q)
		card := d.card(t)
		d.stop()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(data), "\n") // everything but the tag is lost
		if err := os.WriteFile(file, []byte(first+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		press := d.server.PressData(anna, anna, card.ID, card.Data[0])
		d2 := newDesk(t, setup{server: d.server, file: file, young: true})
		polls := d.server.Calls("getUpdates")
		d2.skip(5 * time.Second)
		d2.until(t, "two polls", func() bool { return d.server.Calls("getUpdates") > polls+1 })
		if len(d.server.Pending()) != 1 || len(d.server.Replies()) != 0 {
			t.Errorf("it was thrown away: %+v", d.server.Replies())
		}
		q.Again = true
		d2.ask(t, q)
		d2.skip(2 * time.Second)
		if told := d2.told(t, press); told.Text != "Denied." {
			t.Errorf("told %+v", told)
		}
	})
}

// Tampering with the notes does not change what a button stands for.
func TestChangedNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "telegram")
		d := newDesk(t, setup{file: file})
		d.ask(t, d.ticket("t-1"))
		card := d.card(t)
		d.stop()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		turned := strings.ReplaceAll(string(data), `".deny"`, `".approve"`)
		if turned == string(data) {
			t.Fatalf("nothing to change in %s", data)
		}
		if err := os.WriteFile(file, []byte(turned), 0o600); err != nil {
			t.Fatal(err)
		}
		d2 := newDesk(t, setup{server: d.server, file: file, young: true})
		told := d2.told(t, d.server.PressData(anna, anna, card.ID, card.Data[0]))
		if !strings.Contains(told.Text, "out of date") || len(d2.answered()) != 0 {
			t.Errorf("told %+v, answered %+v", told, d2.answered())
		}
	})
}

// A card of an earlier run that is not asked again says that it is over, long before its time; if
// its question is asked later, it gets a new card.
func TestACardThatIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "telegram")
		d := newDesk(t, setup{file: file})
		gone, open := d.ticket("t-1"), d.ticket("t-2")
		d.ask(t, gone)
		d.ask(t, open)
		d.stop()
		d2 := newDesk(t, setup{server: d.server, file: file, young: true})
		gone.Again, open.Again = true, true
		d2.ask(t, open)
		d2.skip(40 * time.Second)
		d2.until(t, "its card says so", func() bool { return strings.HasPrefix(d.server.Messages()[0].Text, "This question is over") })
		if other := d.server.Messages()[1]; len(other.Labels) == 0 || d.server.Calls("sendMessage") != 2 {
			t.Errorf("%+v", other)
		}
		d2.ask(t, gone)
		if told := d2.press(t, anna, "Deny"); told.Text != "Denied." || d.server.Calls("sendMessage") != 3 {
			t.Errorf("told %+v", told)
		}
	})
}

// The notes are lost: questions are asked again, and the old cards do nothing.
func TestLostNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{file: filepath.Join(t.TempDir(), "a")})
		q := d.ticket("t-1")
		d.ask(t, q)
		old := d.card(t)
		d.stop()
		d2 := newDesk(t, setup{server: d.server, file: filepath.Join(t.TempDir(), "b"), young: true})
		q.Again = true
		d2.ask(t, q)
		if n := d.server.Calls("sendMessage"); n != 2 {
			t.Errorf("%d cards, want 2", n)
		}
		d.server.PressData(anna, anna, old.ID, old.Data[1])
		synctest.Wait() // the press has another tag, so the bot polls once a second from here on
		press, err := d.server.Press(anna, "Deny")
		if err != nil {
			t.Fatal(err)
		}
		d2.skip(2 * time.Second)
		if told := d2.told(t, press); told.Text != "Denied." || len(d2.answered()) != 1 {
			t.Errorf("told %+v, answered %+v", told, d2.answered())
		}
	})
}

// A card of an earlier run stays if its question is unchanged; otherwise a new card is sent. The
// old card's buttons authenticate what they stand for.
func TestAChangedQuestionAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "telegram.jsonl")
		d := newDesk(t, setup{file: file})
		same, other := d.ticket("t-1"), d.ticket("t-2")
		same.Seen, other.Seen = "one page", "one page"
		d.ask(t, same)
		d.ask(t, other)
		first, second := d.server.Messages()[0], d.server.Messages()[1] // their buttons go when there is a newer card
		d.stop()
		d2 := newDesk(t, setup{server: d.server, file: file, young: true})
		same.Again, other.Again, other.Seen = true, true, "two pages"
		d2.ask(t, same)
		d2.ask(t, other)
		if n := d.server.Calls("sendMessage"); n != 3 {
			t.Errorf("%d cards, want 3", n)
		}
		d2.told(t, d.server.PressData(anna, anna, second.ID, second.Data[1]))
		d2.told(t, d.server.PressData(anna, anna, first.ID, first.Data[1]))
		if got := d2.answered(); len(got) != 1 || got[0].Ticket != "t-1" || got[0].Verb != approval.Approve || got[0].Seen != "one page" {
			t.Errorf("answered %+v", got)
		}
	})
}

// A question that grew while the monitor was away is asked as a whole.
func TestAGrownQuestionAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "telegram.jsonl")
		d := newDesk(t, setup{file: file})
		q := d.ticket("t-1")
		d.ask(t, q)
		d.stop()
		d2 := newDesk(t, setup{server: d.server, file: file, young: true})
		q.Again, q.Calls = true, 2
		d2.ask(t, q)
		if n := d.server.Calls("sendMessage"); n != 1 {
			t.Errorf("%d cards before all calls are known", n)
		}
		q.Call = question("make")
		d2.ask(t, q)
		if got := d2.card(t); !slices.Equal(got.Labels, []string{"Deny", "Allow all 2, once"}) {
			t.Errorf("buttons %q", got.Labels)
		}
		d2.until(t, "the old card to point to it", func() bool { return strings.Contains(d.server.Messages()[0].Text, "has grown") })
	})
}
