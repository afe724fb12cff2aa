package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/ask/telegram"
	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The people of these tests.
const (
	anna    = int64(4711)
	mallory = int64(666)
	group   = int64(-100200300)
)

// A desk is a bot with a channel and its server, in a bubble. The desk itself takes the monitor's
// place.
type desk struct {
	now       func() time.Time
	server    *bottest.Server
	bot       *telegram.Bot
	channel   *telegram.Channel
	stop      func()
	incidents chan string

	mu       sync.Mutex // guards what is below
	answers  []approval.Command
	sessions []journal.Session
	closed   map[floodmark.TicketID]bool
	broken   bool
}

type setup struct {
	server *bottest.Server
	who    telegram.Audience
	file   string
	key    string
	young  bool // questions may still be asked again
}

// newDesk returns a desk whose bot has finished its start.
func newDesk(t *testing.T, s setup) *desk {
	t.Helper()
	if s.server == nil {
		s.server = bottest.InMemory()
		t.Cleanup(s.server.Close)
	}
	if s.who.Chat == 0 {
		s.who = telegram.Audience{Chat: anna, Users: []int64{anna}}
	}
	d := &desk{now: time.Now, server: s.server, closed: map[floodmark.TicketID]bool{}, incidents: make(chan string, 100)}
	client, err := telegram.NewClient(telegram.ClientOptions{Base: s.server.URL, Token: bottest.Token, Time: 2 * time.Second, Dial: s.server.Dial})
	if err != nil {
		t.Fatal(err)
	}
	d.bot, err = telegram.Open(telegram.Options{
		Client: client, Key: []byte("key" + s.key), File: s.file, Now: d.now,
		Incident: func(kind, text string) { d.incidents <- kind + ": " + text },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !s.young {
		d.skip(time.Minute)
	}
	if d.channel, err = d.bot.Channel(s.who, "", d.answer); err != nil {
		t.Fatal(err)
	}
	d.run(t)
	synctest.Wait()
	return d
}

// skip lets time pass, with all that happens meanwhile.
func (d *desk) skip(by time.Duration) {
	time.Sleep(by)
	synctest.Wait()
}

// run runs the bot until stop, or the test's end.
func (d *desk) run(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.bot.Run(ctx) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-ended, d.bot.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(d.stop)
}

// answer acts as the monitor: only the first answer is accepted.
func (d *desk) answer(_ context.Context, s journal.Session, cmd approval.Command) (monitor.Answered, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return monitor.Answered{}, errors.New("the disk is full")
	}
	d.answers, d.sessions = append(d.answers, cmd), append(d.sessions, s)
	if d.closed[cmd.Ticket] {
		return monitor.Answered{Notice: "That question was answered already."}, nil
	}
	if cmd.Picked != "" && !strings.HasPrefix(cmd.Picked, "right") {
		return monitor.Answered{Notice: "That is not where it goes."}, nil
	}
	d.closed[cmd.Ticket] = true
	verdict, word := floodmark.Allow, "Approved."
	if cmd.Verb == approval.Deny {
		verdict, word = floodmark.Restrict, "Denied."
	}
	return monitor.Answered{Notice: word, Facts: []floodmark.Fact{
		floodmark.TicketAnswered{Ticket: cmd.Ticket, Verdict: verdict, By: cmd.By, Channel: cmd.Channel},
	}}, nil
}

func (d *desk) answered() []approval.Command {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.answers)
}

// ticket is a question of one call with two offers.
func (d *desk) ticket(id string) approval.Ticket {
	return approval.Ticket{
		ID: floodmark.TicketID(id), Session: floodmark.SessionID("codex:" + id), Code: "c0dec0de", Calls: 1,
		Expires: d.now().Add(2 * time.Minute), Call: question("npm test"),
	}
}

func question(command string) approval.Question {
	return approval.Question{
		Action: floodmark.Action{
			Kind: floodmark.CallTool, Tool: floodmark.ToolRef{Agent: "codex", Name: "exec"}, Effects: []floodmark.Effect{floodmark.Run},
			ArgsDigest: floodmark.DigestOf(command),
			Arguments:  []floodmark.Argument{{Path: "command", Role: floodmark.Critical, Whence: floodmark.Seen, Trust: floodmark.External, Shown: command}},
		},
		Line:   "web page news.example -> exec: waits for your approval",
		Source: "web page news.example, written by others", Consequence: "Code runs on your machine with your rights.",
		Offers: []approval.Offer{
			{Words: "this call, once", Scope: floodmark.GrantOnce},
			{Words: "npm test here", Scope: floodmark.GrantPattern, Pattern: "npm test", For: 2 * time.Hour},
		},
	}
}

// ask asks, and fails the test if that does not work.
func (d *desk) ask(t *testing.T, q approval.Ticket) {
	t.Helper()
	if err := d.channel.Ask(t.Context(), q); err != nil {
		t.Fatalf("ask %s: %v", q.ID, err)
	}
}

// press presses a button and returns the reply.
func (d *desk) press(t *testing.T, user int64, label string) bottest.Reply {
	t.Helper()
	id, err := d.server.Press(user, label)
	if err != nil {
		t.Fatal(err)
	}
	return d.told(t, id)
}

// told waits for the reply to a press.
func (d *desk) told(t *testing.T, press string) bottest.Reply {
	t.Helper()
	var got bottest.Reply
	d.until(t, "an answer to the press", func() bool {
		list := d.server.Replies()
		i := slices.IndexFunc(list, func(r bottest.Reply) bool { return r.Press == press })
		if i >= 0 {
			got = list[i]
		}
		return i >= 0
	})
	return got
}

// until waits until the bot and its server have nothing to do without time passing, and fails the
// test unless so is true then.
func (d *desk) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	synctest.Wait()
	if !so() {
		t.Fatalf("waited in vain for %s; problems: %q; messages: %s", what, d.bot.Problems(), texts(d.server))
	}
}

func texts(s *bottest.Server) string {
	var b strings.Builder
	for _, m := range s.Messages() {
		fmt.Fprintf(&b, "\n#%d %q %q", m.ID, m.Text, m.Labels)
	}
	return b.String()
}

// card returns the newest message.
func (d *desk) card(t *testing.T) bottest.Message {
	t.Helper()
	list := d.server.Messages()
	if len(list) == 0 {
		t.Fatal("nothing was sent")
	}
	return list[len(list)-1]
}
