package kernel_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// An answer of at least eight words has a footer only if it shows something of the least trusted
// content. The footer then quotes the words and says where they are from.
func TestFooterOnlyIfDrawn(t *testing.T) {
	const (
		mail = "the committee met in the old harbour and agreed that seven ships would leave before dawn for the north"
		page = "go and visit the Golden Gander Inn, see https://gander.example/inn for more"
		all  = "informed by 1 untrusted result of page and 1 external result of inbox"
	)
	for name, c := range map[string]struct{ text, want string }{
		"nothing of it":           {"All is well here, and there is nothing else to tell.", ""},
		"seven words cannot tell": {"All is well here and nothing else.", all},
		"a sentence of the mail":  {"They met in the old harbour and agreed that seven ships would leave before dawn, it seems.", all + "; repeats «the old harbour and agreed that seven ships would» of the result of inbox at 21"},
		"a name of the page":      {"By the way, the Golden Gander is said to be lovely.", all + "; names «Golden Gander» of the result of page at "},
		"a link of the page":      {"By the way, there is something for you to read: https://gander.example/inn", all + "; names «https://gander.example/inn» of the result of page at "},
		"two short pieces":        {"I hear the committee met in the town; the rest agreed that seven ships would sink.", ""},
		"three short pieces":      {"I hear the committee met in the town; the rest agreed that seven ships would sink; nobody would leave before dawn for it.", all + "; repeats «"},
		"the longest is shown":    {"The Golden Gander says they met in the old harbour and agreed that seven ships would leave before dawn.", all + "; repeats «the old"},
	} {
		d := newDesk(t, "")
		d.owner("Look at https://one.example/a")
		d.reads("inbox", "", mail)
		d.reads("page", `{"url":"https://one.example/a"}`, page)
		out := d.tell(hook.Event{Point: hook.BeforeResponseEmit, Text: c.text, Audience: hook.ToOwner})
		got := out.Reply.Footer
		if placed := strings.Contains(c.want, "«"); got != c.want && !(placed && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		} else if args := decided(t, out).Action.Arguments; placed != (len(args) == 1) {
			t.Errorf("%s: written down is %+v", name, args)
		} else if placed && (args[0].Whence != floodmark.Seen || args[0].Trust > floodmark.External || len(args[0].Spans) != 1 || args[0].Role != floodmark.Content) {
			t.Errorf("%s: written down is %+v", name, args[0])
		}
	}
}

// A name from a mailbox needs no footer, because the owner asked for its content.
func TestFooterNamesOnlyUntrusted(t *testing.T) {
	d := newDesk(t, "")
	d.owner("hello")
	d.reads("inbox", "", "greetings of the Golden Gander")
	if got := d.reply("By the way, the Golden Gander is said to be lovely.", hook.ToOwner).Footer; got != "" {
		t.Errorf("%q", got)
	}
}

// Content at Shared or above needs no footer, however much of it is repeated.
func TestNoFooterAtShared(t *testing.T) {
	d := newDesk(t, "")
	d.owner("hello")
	d.reads("wall", "", "seven ships would leave before dawn for the north")
	if got := d.reply("It says that seven ships would leave before dawn for the north.", hook.ToOwner).Footer; got != "" {
		t.Errorf("%q", got)
	}
}
