package approval_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
)

const hostsCall = floodmark.CallID("c")

// failed returns a book with a call that failed in its box and tried to reach hosts.
func failed(wanted ...string) *approval.Book {
	b := &approval.Book{}
	b.Boxes(floodmark.Action{Call: hostsCall, Tool: floodmark.ToolRef{Name: "Bash"}, ArgsDigest: floodmark.DigestOf("npm test"), Effects: []floodmark.Effect{floodmark.Run}}, floodmark.Boxed)
	b.BoxEnded(floodmark.ContentArrived{BoxFailed: true, Wanted: wanted}, hostsCall)
	return b
}

func lasting(hosts ...string) floodmark.GrantGiven {
	return floodmark.GrantGiven{
		Ticket: "t", Scope: floodmark.GrantHosts, Until: at(60),
		Shown: floodmark.Shown{Tool: floodmark.ToolRef{Name: "Bash"}, ArgsDigest: floodmark.DigestOf("npm test"), Hosts: hosts},
	}
}

func TestHostsThatABoxShouldReach(t *testing.T) {
	tool, args := floodmark.ToolRef{Name: "Bash"}, floodmark.DigestOf("npm test")
	given := func(b *approval.Book, hosts ...string) *approval.Book {
		b.Give(lasting(hosts...))
		return b
	}
	for name, c := range map[string]struct {
		book  *approval.Book
		min   int
		more  []hook.Lasting
		hosts string
		by    floodmark.TicketID
	}{
		"nothing":              {book: &approval.Book{}},
		"failed by itself":     {book: failed()},
		"a name without port":  {book: failed("api.example", "/run/docker.sock")},
		"what cannot be":       {book: failed("10.0.0.1:80", "localhost:443", "metadata.google.internal:80", "a_b.example:443", "*.example:443")},
		"wanted":               {book: failed("b.example:443", "a.example:8443", "b.example:443"), hosts: "a.example:8443 b.example:443"},
		"too many":             {book: failed("a.example:1", "a.example:2", "a.example:3", "a.example:4", "a.example:5"), hosts: "a.example:1 a.example:2 a.example:3 a.example:4"},
		"granted":              {book: given(&approval.Book{}, "a.example:443"), hosts: "a.example:443", by: "t"},
		"granted, and over":    {book: given(&approval.Book{}, "a.example:443"), min: 60},
		"granted since":        {book: given(failed("a.example:443"), "a.example:443"), hosts: "a.example:443", by: "t"},
		"granted, wants more":  {book: given(failed("b.example:443"), "a.example:443"), hosts: "a.example:443 b.example:443"},
		"granted, other cause": {book: given(failed(), "a.example:443")},
		"granted elsewhere":    {book: &approval.Book{}, more: []hook.Lasting{{Ticket: "o", Tool: tool, Args: args, Hosts: []string{"a.example:443"}}}, hosts: "a.example:443", by: "o"},
		"granted to another":   {book: &approval.Book{}, more: []hook.Lasting{{Ticket: "o", Tool: tool, Hosts: []string{"a.example:443"}}, {Ticket: "p", Args: args, Hosts: []string{"a.example:443"}}}},
		"granted what cannot":  {book: &approval.Book{}, more: []hook.Lasting{{Ticket: "o", Tool: tool, Args: args, Hosts: []string{"127.0.0.1:443"}}}, by: "o"},
	} {
		hosts, by := c.book.Reaches(tool, args, at(c.min), c.more, floodmark.Digest{})
		if strings.Join(hosts, " ") != c.hosts || by != c.by {
			t.Errorf("%s: %q by %q", name, hosts, by)
		}
	}
}

func TestAGrantOfHostsOutlivesTheSession(t *testing.T) {
	var b approval.Book
	b.Give(lasting("a.example:443"))
	b.CloseTurn()
	b.Sink(floodmark.Label{})
	b.Void()
	if len(b.Lasting(at(59))) != 1 || !b.Holds("t") || len(b.Lasting(at(60))) != 0 {
		t.Errorf("%+v", b)
	}
	if _, ok := b.Covers(want(lasting("a.example:443").Shown)); ok {
		t.Error("it covers a call by itself")
	}
	b.End("t")
	if len(b.Lasting(at(0))) != 0 || b.Holds("t") {
		t.Errorf("%+v", b)
	}
	for range 2 * approval.MaxGrants {
		b.Give(lasting("a.example:443"))
	}
	if len(b.Hosts) != approval.MaxGrants {
		t.Errorf("%d are kept", len(b.Hosts))
	}
}

// An approval of hosts covers no other hosts, and no box without hosts.
func TestAYesIsForTheHostsThatWereShown(t *testing.T) {
	for _, shown := range [][]string{nil, {"a.example:443"}} {
		for _, wanted := range [][]string{nil, {"a.example:443"}, {"a.example:8443"}, {"a.example:443", "b.example:443"}} {
			s := floodmark.Shown{Tool: floodmark.ToolRef{Name: "Bash"}, ArgsDigest: floodmark.DigestOf("x"), Boxed: true, Hosts: shown}
			var b approval.Book
			b.Give(floodmark.GrantGiven{Ticket: "t", Scope: floodmark.GrantOnce, Shown: s, Until: at(5)})
			w := want(s)
			w.Boxed, w.Hosts = true, wanted
			if _, ok := b.Covers(w); ok != slices.Equal(shown, wanted) {
				t.Errorf("%q for %q: %v", shown, wanted, ok)
			}
		}
	}
}

func TestWhatIsOfferedOfHosts(t *testing.T) {
	scopes := func(lasting bool, hosts ...string) (list string) {
		for _, o := range approval.HostOffers(hosts, lasting) {
			list += string(o.Scope) + " "
		}
		return list
	}
	for want, got := range map[string]string{
		"once hosts outside ": scopes(true, "api.example:443"),
		"once outside ":       scopes(false, "api.example:443"),
	} {
		if got != want || len(strings.Fields(got)) > approval.MaxOffers {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := scopes(true, "api.example:443", "gist.github.com:443"); got != "once outside " {
		t.Errorf("where anybody publishes: %q", got)
	}
	if (&approval.Boxed{Wanted: []string{"a.example:443"}}).Reason(true) == (&approval.Boxed{Wanted: []string{"a.example:443"}}).Reason(false) {
		t.Error("nobody is told that no host can be reached")
	}
	if approval.HostsFor != 30*24*time.Hour {
		t.Error("the offer says 30 days")
	}
}
