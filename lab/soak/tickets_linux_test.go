package soak

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

const (
	anna = int64(4711) // the user of the phone
	// askers is how many sessions ask at the same time.
	askers = 8
	// ticketKills is how often the monitor is killed while questions are open.
	ticketKills = 3
	// sentWithin is the time within which 99 of 100 cards must be sent.
	sentWithin = 200 * time.Millisecond
)

// ticketFigures are the figures of a run.
type ticketFigures struct {
	Commit    string `json:"commit"`
	Seed      uint64 `json:"seed"`
	Open      int    `json:"openAtOnce"`
	Sessions  int    `json:"sessions"`
	Kills     int    `json:"kills"`
	Asked     int    `json:"asked"`
	Denied    int    `json:"denied"`
	Allowed   int    `json:"allowed"`
	WhileAway int    `json:"touchedWhileTheMonitorWasAway"`
	Unheard   int    `json:"askedWithoutAnAnswerWhenKilled"`
	Lost      int    `json:"lost"`
	Doubled   int    `json:"doubled"`
	Twice     int    `json:"cardsSentTwice"`
	Left      int    `json:"cardsLeftWithButtons"`
	Retried   int    `json:"approvedCallsThatPassed"`
	// Decision is the time from the agent's getting the decision to the card's arrival.
	Decision quantiles `json:"msFromDecisionToCard"`
	// Call is the time from the agent's asking to the card's arrival.
	Call     quantiles `json:"msFromCallToCard"`
	Verified int64     `json:"entriesVerified"`
	Seconds  float64   `json:"seconds"`
}

// An ask is one call that waits for a person.
type ask struct {
	event   hook.Event
	ticket  floodmark.TicketID
	began   time.Time
	decided time.Time
	answer  string // the person's answer; empty while the question is open
}

// A desk is a phone, agents that ask, and the monitor between them.
type desk struct {
	t      *testing.T
	random *rand.Rand
	dir    string
	server *bottest.Server
	agents *relay
	run    *running
	figure ticketFigures

	mu   sync.Mutex // guards what is below
	asks map[floodmark.TicketID]*ask
	sent map[int64]floodmark.TicketID // every card that ever was on the phone
}

// TestTicketsSurviveKilling kills the real program several times while many questions are open.
// Open questions must be open again afterwards, answered ones must stay answered, a yes must let
// the same call pass, and no card may be lost.
func TestTicketsSurviveKilling(t *testing.T) {
	long(t)
	began := time.Now()
	d := newAskDesk(t)
	d.open(*tickets - len(d.asks))
	d.open(max(1, *tickets/10)) // while the first questions are open
	d.carded()
	d.measure()
	d.figure.Open = len(d.pending())
	list := d.unanswered()
	for i, a := range list[:len(list)*2/5] {
		d.touch(a, []string{"Deny", "Allow once"}[i%2])
	}
	d.settled()
	for range ticketKills {
		d.kill()
		d.run = serve(t, d.dir, "")
		d.settled()
		d.carded()
	}
	d.finish()
	d.figure.Seconds = time.Since(began).Seconds()
	f := d.figure
	if f.Lost+f.Doubled > 0 || f.Open < *tickets || f.Retried != f.Allowed {
		t.Errorf("%+v", f)
	}
	// With few questions this is the time of the slowest, which depends on how busy the machine is.
	if limit := sentWithin.Seconds() * 1000; *tickets >= 1000 && f.Decision.P99 > limit {
		t.Errorf("99 of 100 cards are sent within %.0f ms, want %.0f", f.Decision.P99, limit)
	}
	writeEvidence(t, "asking.json", "tickets", f)
}

func newAskDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, random: rand.New(rand.NewPCG(*seed, 6)), dir: folder(t), server: bottest.New(), asks: map[floodmark.TicketID]*ask{}, sent: map[int64]floodmark.TicketID{}}
	t.Cleanup(d.server.Close)
	d.figure = ticketFigures{Commit: commit(t), Seed: *seed}
	paths := config.DirPaths(d.dir)
	put(t, paths.Service, fmt.Sprintf("version: 1\ntelegram:\n  botToken: %s\n  chatId: %d\n  allowedUserIds: [%d]\n  server: %s\n", bottest.Token, anna, anna, d.server.URL))
	put(t, paths.Policy, "version: 1\napprovals: {ttl: 1h}\n")
	d.run = serve(t, d.dir, "")
	d.agents = newRelay(t, d.run.paths.HookSocket)
	return d
}

// open lets n sessions ask one question each. A session asks only one, because the result of an
// approved call would invalidate other approvals in the session.
func (d *desk) open(n int) {
	var all sync.WaitGroup
	turn := make(chan struct{}, askers)
	for range n {
		d.figure.Sessions++
		session := floodmark.SessionID(fmt.Sprintf("s%04d", d.figure.Sessions))
		turn <- struct{}{}
		all.Go(func() {
			defer func() { <-turn }()
			d.session(session)
		})
	}
	all.Wait()
}

// session plays a session that reads a page and then wants to run a command. It stops if a call is
// not answered.
func (d *desk) session(s floodmark.SessionID) {
	page := hook.Call{ID: "page", Name: "web_fetch", Args: []byte(`{"url":"https://news.example/"}`)}
	owner := floodmark.Origin{Kind: floodmark.FromSender, Sender: "me", IsOwner: true}
	for _, ev := range []hook.Event{
		{Point: hook.SessionStart, Session: s},
		{Point: hook.MessageReceived, Session: s, Text: "what is new?", Origin: owner},
		{Point: hook.BeforeToolCall, Session: s, Call: page},
		{Point: hook.AfterToolCall, Session: s, Call: page, Result: hook.Result{Text: "Nothing much on " + string(s)}},
	} {
		if d.agents.tell(d.t, ev).Failed {
			return
		}
	}
	ev := hook.Event{Point: hook.BeforeToolCall, Session: s, Call: hook.Call{ID: "c1", Name: "exec", Args: fmt.Appendf(nil, `{"command":"make install-%s"}`, s)}}
	began := time.Now()
	h := d.agents.tell(d.t, ev)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case h.Failed:
		d.figure.Unheard++
	case h.Verdict != "confirm" || h.Ticket == "" || d.asks[h.Ticket] != nil:
		d.t.Errorf("session %s: %+v", s, h)
	default:
		d.figure.Asked++
		d.asks[h.Ticket] = &ask{event: ev, ticket: h.Ticket, began: began, decided: h.At}
	}
}

// unanswered returns the open questions, shuffled by the seed.
func (d *desk) unanswered() []*ask {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*ask
	for _, a := range d.asks {
		if a.answer == "" {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *ask) int { return cmp.Compare(a.event.Session, b.event.Session) })
	d.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// live returns the cards that have buttons, by question.
func (d *desk) live() map[floodmark.TicketID][]bottest.Message {
	cards := map[floodmark.TicketID][]bottest.Message{}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.server.Messages() {
		if len(m.Data) == 0 {
			continue
		}
		name, _, _ := strings.Cut(m.Data[0], ".")
		t := floodmark.TicketID(name[len("f1")+5:]) // version, tag, kind
		d.sent[m.ID] = t
		cards[t] = append(cards[t], m)
	}
	return cards
}

// until waits until so returns true.
func (d *desk) until(what string, so func() bool) {
	d.t.Helper()
	d.run.until(what, so)
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

// carded waits until every open question has a card with buttons.
func (d *desk) carded() {
	d.t.Helper()
	d.until("cards of all open questions", func() bool {
		cards := d.live()
		return !slices.ContainsFunc(d.unanswered(), func(a *ask) bool { return len(cards[a.ticket]) == 0 })
	})
}

// measure measures how long it took until the cards arrived.
func (d *desk) measure() {
	var decision, call []float64
	for t, list := range d.live() {
		at, a := list[0].At, d.asks[t]
		decision, call = append(decision, at.Sub(a.decided).Seconds()*1000), append(call, at.Sub(a.began).Seconds()*1000)
	}
	d.figure.Decision, d.figure.Call = quantilesOf(decision), quantilesOf(call)
}

// quantiles are milliseconds.
type quantiles struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Most float64 `json:"most"`
}

func quantilesOf(list []float64) quantiles {
	slices.Sort(list)
	return quantiles{list[len(list)/2], list[len(list)*99/100], list[len(list)-1]}
}

// touch answers a question on the phone, with the button of that label.
func (d *desk) touch(a *ask, label string) {
	d.t.Helper()
	cards := d.live()[a.ticket]
	if len(cards) == 0 || !slices.Contains(cards[0].Labels, label) {
		d.t.Fatalf("question %s has no button %q: %+v", a.ticket, label, cards)
	}
	d.server.PressData(anna, anna, cards[0].ID, cards[0].Data[slices.Index(cards[0].Labels, label)])
	d.note(a, label)
}

func (d *desk) note(a *ask, label string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a.answer = label; label == "Deny" {
		d.figure.Denied++
	} else {
		d.figure.Allowed++
	}
}

// pending returns the open questions that the monitor lists to the owner.
func (d *desk) pending() map[floodmark.TicketID]*wire.Question {
	d.t.Helper()
	o, end := d.run.owner()
	defer end()
	got, err := o.Pending(d.t.Context(), &wire.PendingRequest{})
	if err != nil {
		d.t.Fatal(err)
	}
	open := map[floodmark.TicketID]*wire.Question{}
	calls := map[string]bool{}
	for _, q := range got.GetQuestions() {
		id := floodmark.TicketID(q.GetTicket())
		call := q.GetSession() + " " + q.GetCalls()[0].GetAction().GetArgsDigest()
		if open[id] != nil || calls[call] || len(q.GetCalls()) != 1 {
			d.figure.Doubled++
		}
		open[id], calls[call] = q, true
	}
	return open
}

// settled waits until exactly the unanswered questions are open.
func (d *desk) settled() {
	d.t.Helper()
	lost, answered := 0, 0
	so := func() bool {
		open := d.pending()
		lost, answered = 0, 0
		d.mu.Lock()
		defer d.mu.Unlock()
		for id, a := range d.asks {
			switch _, waits := open[id]; {
			case !waits && a.answer == "":
				lost++
			case waits && a.answer != "":
				answered++
			}
		}
		return lost+answered == 0
	}
	for end := patience(d.t); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			d.figure.Lost += lost + answered
			d.t.Fatalf("%d open questions are gone, %d that were answered are open; the monitor says\n%s", lost, answered, tail(d.run.out.String()))
		}
	}
}

// kill kills the monitor while sessions ask and a person answers. The person answers some more
// questions while the monitor is gone.
func (d *desk) kill() {
	d.t.Helper()
	list := d.unanswered()
	some := max(2, len(list)/20)
	var all sync.WaitGroup
	all.Go(func() { d.open(max(8, *tickets/5)) })
	for i, a := range list[:some] {
		d.touch(a, []string{"Deny", "Allow once"}[i%2])
	}
	time.Sleep(time.Duration(d.random.IntN(200)) * time.Millisecond)
	d.run.kill()
	all.Wait()
	for i, a := range list[some : 2*some] {
		d.touch(a, []string{"Deny", "Allow once"}[i%2])
		d.figure.WhileAway++
	}
	d.figure.Kills++
}

// over waits until every card says how its question ended. A card that was answered when the
// monitor was killed, or that was sent but not yet recorded, says so only when it is touched again.
func (d *desk) over() {
	d.t.Helper()
	left := func() map[floodmark.TicketID][]bottest.Message {
		cards := d.live()
		maps.DeleteFunc(cards, func(t floodmark.TicketID, _ []bottest.Message) bool {
			return d.asks[t] == nil // the session got no answer, so the test does not know the question
		})
		return cards
	}
	for end := time.Now().Add(10 * time.Second); len(left()) > 0 && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	d.figure.Left = len(left())
	for t, cards := range left() {
		for _, m := range cards { // the same button again, because a later no would take back a yes
			d.server.PressData(anna, anna, m.ID, m.Data[slices.Index(m.Labels, d.asks[t].answer)])
		}
	}
	d.until("cards to say that they are over when they are touched", func() bool { return len(left()) == 0 })
	for t := range d.asks {
		d.figure.Twice += max(0, d.cards(t)-1)
	}
}

// cards returns how many cards a question has had.
func (d *desk) cards(t floodmark.TicketID) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, of := range d.sent {
		if of == t {
			n++
		}
	}
	return n
}

// finish answers all open questions, a quarter of them not on the phone but as the owner, and then
// tries every call twice more.
func (d *desk) finish() {
	d.t.Helper()
	o, end := d.run.owner()
	defer end()
	for i, a := range d.unanswered() {
		if i%4 != 0 {
			d.touch(a, "Allow once")
			continue
		}
		got, err := o.Answer(d.t.Context(), &wire.AnswerRequest{Verb: "deny", Session: string(a.event.Session), Ticket: string(a.ticket), Calls: 1})
		if err != nil || !got.GetAnswered() {
			d.t.Fatalf("%s: %v, %v", a.ticket, got, err)
		}
		d.note(a, "Deny")
	}
	d.settled()
	d.over()
	for _, a := range d.asks {
		once := d.agents.tell(d.t, a.event)
		first, second := once.Verdict, d.agents.tell(d.t, a.event).Verdict
		if first == "allow" {
			d.figure.Retried++
		}
		if wanted := a.answer == "Allow once"; wanted != (first == "allow") || second == "allow" {
			d.t.Errorf("%s, answered with %s: %s (%+v), then %s", a.ticket, a.answer, first, once, second)
		}
	}
	report, err := d.run.verify(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	d.figure.Verified = report.GetEntries()
	if err := d.run.stop(); err != nil {
		d.t.Error(err)
	}
}
