package telegram_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/internal/ask/telegram"
	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
)

func sends(fault *bottest.Fault, times int) func(string, int) *bottest.Fault {
	return func(method string, n int) *bottest.Fault {
		if method == "sendMessage" && n <= times {
			return fault
		}
		return nil
	}
}

// A card that cannot be sent is retried while its question is open, unless Telegram's error says
// that a retry cannot help.
func TestSendingIsTriedAgain(t *testing.T) {
	for name, row := range failures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, setup{})
				fault := *row.fault
				if name == "429" {
					fault = *bottest.TooMany(1)
				}
				d.server.Break(sends(&fault, 1))
				err := d.channel.Ask(t.Context(), d.ticket("t-1"))
				final := strings.HasPrefix(name, "40")
				if (err != nil) != final {
					t.Fatalf("got %v", err)
				}
				if final {
					checkFailure(t, err, row.kind, "telegram sendMessage: ", row.says)
					if list := d.bot.Problems(); len(list) != 1 || !strings.Contains(list[0], row.says) {
						t.Errorf("status says %q", list)
					}
					return
				}
				if told := d.press(t, anna, "Deny"); told.Text != "Denied." {
					t.Errorf("told %+v", told)
				}
			})
		})
	}
}

// After "too many requests" nothing is sent for the given time; then one at a time.
func TestTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		d.server.Break(sends(bottest.TooMany(1), 1))
		began := time.Now()
		d.ask(t, d.ticket("t-0"))
		var work sync.WaitGroup
		for i := range 2 {
			work.Go(func() { _ = d.channel.Ask(t.Context(), d.ticket(fmt.Sprint("t-", i+1))) })
		}
		work.Wait()
		var after []time.Duration
		for _, m := range d.server.Messages() {
			after = append(after, m.At.Sub(began))
		}
		if want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}; !slices.Equal(after, want) {
			t.Errorf("messages came %s after a 429, want %s", after, want)
		}
	})
}

// A question that ended while it waited is not sent.
func TestMootQuestionsAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		d.server.Break(sends(bottest.TooMany(150), 1))
		ctx, cancel := context.WithCancel(t.Context())
		asked := make(chan error, 1)
		go func() { asked <- d.channel.Ask(ctx, d.ticket("t-1")) }()
		d.until(t, "a first try", func() bool { return d.server.Calls("sendMessage") == 1 })
		cancel()
		if err := <-asked; err == nil || !strings.Contains(err.Error(), "not sent yet") {
			t.Errorf("got %v", err)
		}
		d.skip(5 * time.Minute) // the question ended before Telegram wants to hear more
		if n := d.server.Calls("sendMessage"); n != 1 {
			t.Errorf("tried %d times", n)
		}
	})
}

// A message whose confirmation was lost is sent again: both cards answer the same question, once.
func TestSentTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		d.server.Break(sends(&bottest.Fault{After: true}, 1))
		d.ask(t, d.ticket("t-1"))
		list := d.server.Messages()
		if len(list) != 2 {
			t.Fatalf("%d messages", len(list))
		}
		if told := d.told(t, d.server.PressData(anna, anna, list[0].ID, list[0].Data[1])); told.Text != "Approved." {
			t.Errorf("told %+v", told)
		}
		d.until(t, "the newer card to say so", func() bool { return strings.HasPrefix(d.card(t).Text, "Allowed by") })
		told := d.told(t, d.server.PressData(anna, anna, list[0].ID, list[0].Data[0]))
		if !strings.Contains(told.Text, "is over") {
			t.Errorf("the older card: told %+v", told)
		}
	})
}

// Issue 6: a thousand questions open at once, each on the phone within 200 ms. «make soak
// SUITE=asking» measures the time; here none waits for time to pass.
func TestAThousandQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const questions = 1000
		d := newDesk(t, setup{})
		began := time.Now()
		var work sync.WaitGroup
		for i := range questions {
			work.Go(func() {
				if err := d.channel.Ask(t.Context(), d.ticket(fmt.Sprint("t-", i))); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		if took := time.Since(began); took != 0 {
			t.Errorf("some waited for %s", took)
		}
		if n := len(d.server.Messages()); n != questions {
			t.Errorf("%d messages", n)
		}
		for _, m := range d.server.Messages() {
			d.server.PressData(anna, anna, m.ID, m.Data[0])
		}
		d.until(t, "all answers", func() bool { return len(d.answered()) == questions })
		d.until(t, "all to be confirmed", func() bool { return len(d.server.Pending()) == 0 })
	})
}

func TestOpenNeeds(t *testing.T) {
	if _, err := telegram.Open(telegram.Options{}); err == nil {
		t.Error("a bot of nothing")
	}
}
