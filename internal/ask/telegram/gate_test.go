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

	"github.com/floodmark/floodmark/internal/ask/telegram"
	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
	"github.com/floodmark/floodmark/verify"
)

func request() verify.Request {
	return verify.Request{
		ID: "r-1", Session: "agent:main:main", Agent: "main", Tool: "exec", Params: []byte(`{"command":"curl https://news.example","workdir":"/w"}`),
	}
}

func newGate(t *testing.T, d *desk, wait time.Duration) *telegram.Gate {
	t.Helper()
	g, err := d.bot.Gate(telegram.GateOptions{Name: "telegram", Who: telegram.Audience{Chat: anna, Users: []int64{anna}}, Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// verdict is a gate's result.
type verdict struct {
	answer verify.Answer
	err    error
}

func begin(ctx context.Context, g *telegram.Gate, r verify.Request) <-chan verdict {
	done := make(chan verdict, 1)
	go func() {
		a, err := g.Verify(ctx, r)
		done <- verdict{a, err}
	}()
	return done
}

func (d *desk) shown(t *testing.T, n int) bottest.Message {
	t.Helper()
	d.until(t, "a card", func() bool { return len(d.server.Messages()) >= n })
	return d.card(t)
}

func TestTheGateWaitsForATouch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for label, allow := range map[string]bool{"Allow": true, "Deny": false} {
			d := newDesk(t, setup{})
			g := newGate(t, d, 0)
			done := begin(t.Context(), g, request())
			card := d.shown(t, 1)
			if !slices.Equal(card.Labels, []string{"Deny", "Allow"}) {
				t.Errorf("buttons %q", card.Labels)
			}
			for _, want := range []string{"main is about to use exec", "Tool: exec", "command: curl https://news.example", "workdir: /w", "Agent: main\nSession: agent:main:main\n", "Answer within 2 minutes. No answer means no."} {
				if !strings.Contains(card.Text, want) {
					t.Errorf("the card lacks %q: %s", want, card.Text)
				}
			}
			d.press(t, anna, label)
			got := <-done
			if got.err != nil || got.answer.Allow != allow || !allow && got.answer.Reason != "denied in Telegram" {
				t.Errorf("%s: %+v", label, got)
			}
			d.until(t, "the card to say so", func() bool {
				c := d.card(t)
				return strings.Contains(c.Text, "by user 4711 in Telegram") && len(c.Labels) == 0
			})
			if told := d.told(t, d.server.PressData(anna, anna, card.ID, card.Data[1])); !strings.Contains(told.Text, "no longer waits") {
				t.Errorf("afterwards: told %+v", told)
			}
			d.stop()
		}
	})
}

// With the maximum number of arguments, each line, including the session's, is on the card once.
func TestTheGatesLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			lines []string
			want  string
		}{
			{[]string{"command: make"}, "command: make"},
			{[]string{"a: 1", "b: 2", "c: 3", "d: 4"}, "a: 1\nb: 2\nc: 3\nd: 4"},
			{[]string{"a: 1", "b: 2", "c: 3", "d: 4", "e: 5", "f: 6", "and 9 more arguments"}, "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\nand 9 more arguments"},
			{[]string{"a: 1", "b: 2", "c: 3", "d: 4", "e: 5", "f: 6", "g: 7", "h: 8"}, "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\n(1 more not shown here)"},
		} {
			d := newDesk(t, setup{})
			r := request()
			r.Lines = c.lines
			done := begin(t.Context(), newGate(t, d, 0), r)
			want := "main is about to use exec\n\nTool: exec\n" + c.want + "\nAgent: main\nSession: agent:main:main\n"
			if card := d.shown(t, 1); !strings.HasPrefix(card.Text, want) || strings.Count(card.Text, "agent:main:main") != 1 {
				t.Errorf("got\n%s\nwant\n%s", card.Text, want)
			}
			d.press(t, anna, "Deny")
			<-done
			d.stop()
		}
	})
}

// Agent and session have the monitor's names on the card. A long name is cut in its middle, so that
// both ends can be read.
func TestTheGatesNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		r := request()
		r.Agent, r.Session = "openclaw/main", "openclaw:agent:main:main#"+strings.Repeat("0", 60)+"-2a1b3c4d5e6f"
		done := begin(t.Context(), newGate(t, d, 0), r)
		card := d.shown(t, 1)
		_, names, _ := strings.Cut(card.Text, "\nAgent: openclaw/main\nSession: openclaw:agent:main:main#")
		if session, _, _ := strings.Cut(names, "\n"); !strings.HasSuffix(session, "-2a1b3c4d5e6f") || !strings.Contains(session, "letters") {
			t.Errorf("the card says %s", card.Text)
		}
		d.press(t, anna, "Deny")
		<-done
		d.stop()
	})
}

// Of eight concurrent presses, only the first is accepted. Presses of strangers and forged ones
// never are.
func TestOnlyTheFirstTouchCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		g := newGate(t, d, 0)
		done := begin(t.Context(), g, request())
		card := d.shown(t, 1)
		if told := d.told(t, d.server.PressData(mallory, anna, card.ID, card.Data[1])); !strings.Contains(told.Text, "not authorised") {
			t.Errorf("a stranger is told %+v", told)
		}
		forged := []byte(card.Data[0])
		forged[len(forged)-1] ^= 1
		d.told(t, d.server.PressData(anna, anna, card.ID, string(forged)))
		select {
		case got := <-done:
			t.Fatalf("answered by a stranger: %+v", got)
		default:
		}
		first := d.server.PressData(anna, anna, card.ID, card.Data[0])
		for range 7 {
			d.server.PressData(anna, anna, card.ID, card.Data[1])
		}
		d.told(t, first)
		got := <-done
		d.until(t, "all presses to be answered", func() bool { return len(d.server.Pending()) == 0 })
		winners := 0
		for _, r := range d.server.Replies() {
			if strings.HasPrefix(r.Text, "Allowed by") || strings.HasPrefix(r.Text, "Denied by") {
				winners++
				if strings.HasPrefix(r.Text, "Allowed") != got.answer.Allow {
					t.Errorf("told %q, answered %+v", r.Text, got)
				}
			}
		}
		if winners != 1 {
			t.Errorf("%d were told that they decided", winners)
		}
	})
}

func TestTheGateEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		began := time.Now()
		_, err := newGate(t, d, 20*time.Second).Verify(t.Context(), request())
		checkGate(t, err, verify.TimedOut, "nobody answered in Telegram within 19s")
		if took := time.Since(began); took != 19*time.Second {
			t.Errorf("it took %s", took)
		}
		n := len(d.server.Messages())
		d.until(t, "the card to say so", func() bool { c := d.card(t); return strings.HasPrefix(c.Text, "Time ran out") && len(c.Labels) == 0 })
		ctx, cancel := context.WithCancel(t.Context())
		done := begin(ctx, newGate(t, d, 0), request())
		d.shown(t, n+1)
		cancel()
		checkGate(t, (<-done).err, verify.Deadline, "stopped waiting")
		d.until(t, "the card to say so", func() bool { return strings.HasPrefix(d.card(t).Text, "The call no longer waits") })
	})
}

func checkGate(t *testing.T, err error, kind verify.FailureKind, says string) {
	t.Helper()
	f, ok := errors.AsType[*verify.Failure](err)
	if !ok || f.Kind != kind || !strings.Contains(f.Text, says) {
		t.Errorf("got %v (%+v), want %s: %s", err, f, kind, says)
	}
	if strings.Contains(fmt.Sprintf("%v %+v", err, f), "not-a-token") {
		t.Errorf("the token is in %v", err)
	}
}

// Issue 6: failMode x failure. A gate never turns a failure into an approval itself: it reports how
// it failed, and failMode decides every kind of failure, except that the agent gave up first.
func TestTheGatesFailures(t *testing.T) {
	for name, row := range failures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, setup{})
				g := newGate(t, d, 2*time.Second)
				d.server.Break(sends(row.fault, 1000))
				began := time.Now()
				answer, err := g.Verify(t.Context(), request())
				if answer.Allow || err == nil {
					t.Fatalf("got %+v, %v", answer, err)
				}
				if took := time.Since(began); took > 1800*time.Millisecond { // the gate ends a tenth of the time earlier
					t.Errorf("it took %s", took)
				}
				f, ok := errors.AsType[*verify.Failure](err)
				if !ok || f.Text == "" || strings.Contains(f.Text, "not-a-token") || !f.Kind.Excusable() {
					t.Errorf("got %+v", err)
				}
				checkGate(t, err, row.kind, strings.NewReplacer("no answer within 300ms", "within", "7s", "").Replace(row.says))
			})
		})
	}
}

// A call whose monitor has ended waits no more: its card says so.
func TestTheGateAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := t.TempDir() + "/telegram.jsonl"
		d := newDesk(t, setup{file: file})
		ctx, cancel := context.WithCancel(t.Context())
		done := begin(ctx, newGate(t, d, 0), request())
		card := d.shown(t, 1)
		d.stop()
		cancel()
		if got := <-done; got.answer.Allow || got.err == nil {
			t.Errorf("got %+v", got)
		}
		d3 := newDesk(t, setup{server: d.server, file: file})
		again := newGate(t, d3, 0)
		told := d3.told(t, d.server.PressData(anna, anna, card.ID, card.Data[1]))
		if !strings.Contains(told.Text, "no longer waits") {
			t.Errorf("told %+v", told)
		}
		d3.until(t, "the card to lose its buttons", func() bool { return len(d3.card(t).Labels) == 0 })
		// A retry of the call has a card of its own, whose press counts.
		done = begin(t.Context(), again, request())
		if anew := d3.shown(t, 2); anew.ID == card.ID || len(anew.Labels) != 2 {
			t.Errorf("asked anew by %+v", anew)
		}
		d3.press(t, anna, "Allow")
		if got := <-done; !got.answer.Allow || got.err != nil {
			t.Errorf("asked anew: %+v", got)
		}
	})
}

// The maximum of waiting calls, and one more.
func TestTheGateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		g := newGate(t, d, 0)
		ctx, cancel := context.WithCancel(t.Context())
		var work sync.WaitGroup
		for range 1024 {
			work.Go(func() { _, _ = g.Verify(ctx, request()) })
		}
		d.until(t, "all cards", func() bool { return len(d.server.Messages()) == 1024 })
		_, err := g.Verify(ctx, request())
		checkGate(t, err, verify.Crowded, "too many calls wait")
		cancel()
		work.Wait()
	})
}

// Two gates with one bot: each has its own people.
func TestTwoGates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		mine := newGate(t, d, 0)
		theirs, err := d.bot.Gate(telegram.GateOptions{
			Name: "telegram of codex", Who: telegram.Audience{Chat: group, Users: []int64{mallory}},
			Silence: func(agent string) verify.FailMode { return map[string]verify.FailMode{"main": verify.FailAllow}[agent] },
		})
		if err != nil || theirs.Name() != "telegram of codex" || mine.Name() != "telegram" {
			t.Fatal(theirs.Name(), mine.Name(), err)
		}
		one := begin(t.Context(), mine, request())
		first := d.shown(t, 1)
		two := begin(t.Context(), theirs, request())
		second := d.shown(t, 2)
		if !strings.HasSuffix(second.Text, "Without an answer it happens.") {
			t.Errorf("the card hides what silence means: %s", second.Text)
		}
		for _, press := range []string{
			d.server.PressData(mallory, anna, first.ID, first.Data[1]), d.server.PressData(mallory, group, first.ID, first.Data[1]),
			d.server.PressData(anna, group, second.ID, second.Data[1]), d.server.PressData(anna, anna, second.ID, second.Data[1]),
		} {
			if told := d.told(t, press); !strings.Contains(told.Text, "not authorised") {
				t.Errorf("told %+v", told)
			}
		}
		d.told(t, d.server.PressData(mallory, group, second.ID, second.Data[0]))
		d.told(t, d.server.PressData(anna, anna, first.ID, first.Data[1]))
		if got := <-one; !got.answer.Allow || got.err != nil {
			t.Errorf("mine: %+v", got)
		}
		if got := <-two; got.answer.Allow || got.err != nil {
			t.Errorf("theirs: %+v", got)
		}
		if told := d.told(t, d.server.PressData(mallory, group, second.ID, "f1"+second.Data[0][2:])); !strings.Contains(told.Text, "no longer waits") {
			t.Errorf("afterwards: told %+v", told)
		}
	})
}

// A server that does not listen, and a false one.
func TestTheGateWithoutAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed, liar := bottest.InMemory(), inMemory(t, bottest.InMemoryTLS)
		closed.Close()
		for server, want := range map[*bottest.Server]verify.Failure{
			closed: {Kind: verify.Unreachable, Text: "nothing listens at 127.0.0.1:"},
			liar:   {Kind: verify.Untrusted, Text: "cannot be trusted: its certificate is signed by nobody this machine trusts"},
		} {
			bot, err := telegram.Open(telegram.Options{Client: client(t, server, server.URL), Key: []byte("k"), Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			d := &desk{bot: bot}
			d.run(t)
			g, err := bot.Gate(telegram.GateOptions{Name: "telegram", Who: telegram.Audience{Chat: anna, Users: []int64{anna}}, Wait: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			_, err = g.Verify(t.Context(), request())
			checkGate(t, err, want.Kind, want.Text)
			d.stop()
		}
	})
}
