package approval_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
)

// reads returns a call that an approval for a repository may cover, like sends and pushes.
func reads() approval.Here {
	return approval.Here{
		Repository: floodmark.DigestOf("repository"), Project: "/home/ada/toml", Tool: floodmark.ToolRef{Agent: "claude-code", Name: "WebFetch"}, Described: true,
		Effects: []floodmark.Effect{floodmark.Fetch}, ArgsDigest: floodmark.DigestOf("args"), Pattern: "WebFetch host=docs.example",
		Args:    []floodmark.Argument{{Path: "url", Role: floodmark.Critical, Shown: "https://docs.example/a"}, {Path: "prompt", Role: floodmark.Content}},
		Address: "https://docs.example/a", URLs: []int{0},
		Codes: []floodmark.Code{floodmark.FlowFetch, floodmark.TaintEscalation}, Mark: floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Internal},
	}
}

func sends() approval.Here {
	h := reads()
	h.Tool, h.Defined = floodmark.ToolRef{Agent: "claude-code", Server: "mail", Name: "send_email"}, floodmark.DigestOf("server, definition")
	h.Effects, h.Pattern, h.URLs, h.Address = []floodmark.Effect{floodmark.Send}, "mail/send_email to=anna@firm.example", nil, ""
	h.Args = []floodmark.Argument{{Path: "to", Role: floodmark.Critical, Shown: "anna@firm.example"}, {Path: "body", Role: floodmark.Content}}
	h.Codes = []floodmark.Code{floodmark.TaintEscalation}
	return h
}

func grantOf(t *testing.T, h approval.Here) hook.Lasting {
	t.Helper()
	_, covers, ok := h.Offer()
	if !ok || covers != h.Bound() {
		t.Fatalf("%+v is not offered", h)
	}
	return hook.Lasting{Ticket: "t", Here: covers, Mark: h.Mark, Codes: h.Codes}
}

func TestAYesForARepositorySaysWhatItCovers(t *testing.T) {
	exact := reads()
	exact.Effects, exact.Codes = []floodmark.Effect{floodmark.Change}, []floodmark.Code{floodmark.TaintEscalation}
	for want, h := range map[string]approval.Here{
		"always here: read docs.example with WebFetch, from /home/ada/toml, for 30 days":                                  reads(),
		"always here: send to anna@firm.example with mail/send_email, whatever it says, from /home/ada/toml, for 30 days": sends(),
		"always here: exactly this call of WebFetch, from /home/ada/toml, for 30 days":                                    exact,
	} {
		o, _, ok := h.Offer()
		if got := strings.ReplaceAll(o.Words, "claude-code ", ""); !ok || got != want || o.Scope != floodmark.GrantHere || o.For != approval.HereFor {
			t.Errorf("%+v, want %q", o, want)
		}
		if by := h.By([]hook.Lasting{{}, {Ticket: "o", Here: floodmark.DigestOf("x")}, grantOf(t, h)}); by != "t" {
			t.Errorf("%s: covered by %q", want, by)
		}
	}
}

// A change is what an attack changes about a call.
type change struct {
	name string
	what func(h *approval.Here)
}

func with(path, value string, role floodmark.Role) func(h *approval.Here) {
	return func(h *approval.Here) {
		h.Args = append(slices.Clone(h.Args), floodmark.Argument{Path: path, Role: role, Shown: value})
		h.Pattern += " " + path + "=" + value
	}
}

// never are changes after which a grant for a repository covers no call of any kind.
var never = []change{
	{"no repository", func(h *approval.Here) { h.Repository = floodmark.Digest{} }},
	{"it runs something", func(h *approval.Here) { h.Effects = append(slices.Clone(h.Effects), floodmark.Run) }},
	{"it changes an agent", func(h *approval.Here) { h.Effects = append(slices.Clone(h.Effects), floodmark.Admin) }},
	{"nobody knows what it does", func(h *approval.Here) { h.Effects = nil }},
	{"something private was read", func(h *approval.Here) { h.Mark.Secrecy = floodmark.Private }},
	{"a secret was read", func(h *approval.Here) { h.Mark.Secrecy = floodmark.Secret }},
	{"private data could leave", func(h *approval.Here) { h.Codes = append(slices.Clone(h.Codes), floodmark.FlowPrivate) }},
	{"a secret could leave", func(h *approval.Here) { h.Codes = append(slices.Clone(h.Codes), floodmark.FlowSecret) }},
	{"a link goes out", func(h *approval.Here) { h.Codes = append(slices.Clone(h.Codes), floodmark.ActiveContent) }},
	{"it touches the monitor", func(h *approval.Here) { h.Codes = append(slices.Clone(h.Codes), floodmark.SelfProtection) }},
	{"it takes commands", func(h *approval.Here) { h.Codes = append(slices.Clone(h.Codes), floodmark.Interactive) }},
	{"a rule of the policy", func(h *approval.Here) { h.Codes = append(slices.Clone(h.Codes), floodmark.RuleMatched) }},
	{"an override of the tool", func(h *approval.Here) { h.Codes = append(slices.Clone(h.Codes), floodmark.ToolOverride) }},
	{"a reason of tomorrow", func(h *approval.Here) { h.Codes = append(slices.Clone(h.Codes), "new") }},
	{"it takes two people", func(h *approval.Here) { h.Two = true }},
	{"it pays", func(h *approval.Here) { h.Pays = true }},
}

// notARead are changes after which a grant for reads at a host does not cover a call.
var notARead = []change{
	{"another host", func(h *approval.Here) { h.Address = "https://docs.example.evil.example/a" }},
	{"a host below it", func(h *approval.Here) { h.Address = "https://x.docs.example/a" }},
	{"another port", func(h *approval.Here) { h.Address = "https://docs.example:8443/a" }},
	{"no encryption", func(h *approval.Here) { h.Address = "http://docs.example/a" }},
	{"a query", func(h *approval.Here) { h.Address = "https://docs.example/a?q=told" }},
	{"an empty query", func(h *approval.Here) { h.Address = "https://docs.example/a?" }},
	{"a fragment", func(h *approval.Here) { h.Address = "https://docs.example/a#told" }},
	{"a login", func(h *approval.Here) { h.Address = "https://told@docs.example/a" }},
	{"a range", func(h *approval.Here) { h.Address = "https://docs.example/[1-999999]" }},
	{"a list", func(h *approval.Here) { h.Address = "https://docs.example/{a,b}" }},
	{"an address in numbers", func(h *approval.Here) { h.Address = "https://93.184.216.34/a" }},
	{"this machine", func(h *approval.Here) { h.Address = "https://localhost/a" }},
	{"where strangers publish", func(h *approval.Here) { h.Address = "https://gist.github.com/a" }},
	{"no address", func(h *approval.Here) { h.Address = "" }},
	{"two addresses", func(h *approval.Here) { h.URLs = []int{0, 1} }},
	{"a method", with("method", "POST", floodmark.Critical)},
	{"a body", with("body", "told", floodmark.Undeclared)},
	{"headers", with("headers", "X: told", floodmark.Undeclared)},
	{"it also writes", func(h *approval.Here) { h.Effects = append(slices.Clone(h.Effects), floodmark.Write) }},
	{"it also sends", func(h *approval.Here) { h.Effects = append(slices.Clone(h.Effects), floodmark.Send) }},
	{"it sends", func(h *approval.Here) { h.Effects = []floodmark.Effect{floodmark.Send} }},
	{"a command line, such as curl", func(h *approval.Here) { h.Command = true }},
	{"a tool that nobody described", func(h *approval.Here) { h.Described = false }},
	{"another tool", func(h *approval.Here) { h.Tool.Name = "WebPost" }},
	{"another agent", func(h *approval.Here) { h.Tool.Agent = "pi" }},
	{"another repository at the same place", func(h *approval.Here) { h.Repository = floodmark.DigestOf("other") }},
	{"something believed less was read", func(h *approval.Here) { h.Mark.Trust = floodmark.Untrusted }},
}

// differs are changes after which a call is as safe as before, but a different one.
var differs = []string{
	"another host", "a host below it", "another tool", "another agent", "another repository at the same place", "something believed less was read",
	"it also writes", "somebody else", "a copy", "a blind copy", "a different tool of the server", "another server of that name",
}

// notASend are changes after which a grant for a call that sends does not cover a call.
var notASend = []change{
	{"somebody else", func(h *approval.Here) {
		h.Args = []floodmark.Argument{{Path: "to", Role: floodmark.Critical, Shown: "eve@evil.example"}}
		h.Pattern = "mail/send_email to=eve@evil.example"
	}},
	{"a copy", with("cc", "eve@evil.example", floodmark.Critical)},
	{"a blind copy", with("bcc", "eve@evil.example", floodmark.Undeclared)},
	{"a file", func(h *approval.Here) { with("attachment", "/home/ada/x", floodmark.Critical)(h); h.Paths = []int{2} }},
	{"a recipient that is not shown", func(h *approval.Here) { h.Pattern = "" }},
	{"a recipient that a stranger wrote", func(h *approval.Here) {
		h.Args = []floodmark.Argument{{Path: "to", Role: floodmark.Critical, Shown: "anna@firm.example", Whence: floodmark.Seen, Trust: floodmark.External}}
	}},
	{"a different tool of the server", func(h *approval.Here) { h.Tool.Name = "forward_email" }},
	{"another server of that name", func(h *approval.Here) { h.Defined = floodmark.DigestOf("other server") }},
	{"a server that nobody knows", func(h *approval.Here) { h.Defined = floodmark.Digest{} }},
}

// The known attacks: an approval of the earlier call covers none of them.
func TestAYesForARepositoryCoversNothingElse(t *testing.T) {
	for kind, c := range map[string]struct {
		call    func() approval.Here
		changes []change
	}{"read": {reads, notARead}, "send": {sends, notASend}} {
		for _, x := range slices.Concat(never, c.changes) {
			granted, other := grantOf(t, c.call()), c.call()
			x.what(&other)
			if by := other.By([]hook.Lasting{granted}); by != "" {
				t.Errorf("%s, %s: covered by %q", kind, x.name, by)
			}
			if o, _, ok := other.Offer(); ok && !slices.Contains(differs, x.name) {
				t.Errorf("%s, %s: it is offered %q", kind, x.name, o.Words)
			}
		}
	}
}

// No lasting approval is offered for a host that only foreign content named. With a grant for the
// host, a page may lead to another page there.
func TestAHostOfAStrangerIsNotOffered(t *testing.T) {
	granted, next := grantOf(t, reads()), reads()
	next.Args = []floodmark.Argument{{Path: "url", Role: floodmark.Critical, Shown: "https://docs.example/b", Whence: floodmark.Seen, Trust: floodmark.External}}
	next.Address = "https://docs.example/b"
	if o, _, ok := next.Offer(); ok {
		t.Errorf("%+v", o)
	}
	if by := next.By([]hook.Lasting{granted}); by != "t" {
		t.Errorf("covered by %q", by)
	}
}

// A grant that was given at a high mark does not cover a call at a lower mark. Setting a clock back
// does not make a grant valid again.
func TestWhenAYesForARepositoryHolds(t *testing.T) {
	var b approval.Book
	b.Give(floodmark.GrantGiven{Ticket: "t", Scope: floodmark.GrantHere, Until: at(0).Add(approval.HereFor), Shown: floodmark.Shown{Here: floodmark.DigestOf("x")}})
	if len(b.Grants) > 0 || len(b.Lasting(at(0))) != 1 || len(b.Lasting(at(-1))) != 0 || len(b.Lasting(at(0).Add(approval.HereFor))) != 0 {
		t.Errorf("%+v", b)
	}
	b.Void()
	b.CloseTurn()
	if !b.Holds("t") {
		t.Error("it ended with the turn")
	}
	b.Answer(floodmark.TicketAnswered{Ticket: "t", Verdict: floodmark.Restrict})
	if b.Holds("t") {
		t.Error("a no did not end it")
	}
}

func TestTheWordAlways(t *testing.T) {
	c, err := approval.ParseCommand(".approve all 0123abcd always")
	if err != nil || !c.Always {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, text := range []string{"always always", "always 30", "30 always", "#2 always", "always #2", "Always"} {
		if c, err := approval.ParseCommand(".approve all 0123abcd " + text); err == nil {
			t.Errorf("%s: %+v", text, c)
		}
	}
	offer, here, _ := reads().Offer()
	shown := floodmark.Shown{Tool: reads().Tool, Here: here, Offers: []floodmark.Offer{{Words: "once", Scope: floodmark.GrantOnce}, offer}}
	g := c.Grant("t", shown, 1, at(0))
	if !c.Offered([]floodmark.Shown{shown}) || g.Scope != floodmark.GrantHere || !g.Until.Equal(at(0).Add(approval.HereFor)) || g.Shown.Pattern != offer.Pattern || c.Approved([]floodmark.Shown{shown}, "") != "Approved: "+offer.Words+"." {
		t.Errorf("%+v", g)
	}
	if none := (floodmark.Shown{Offers: shown.Offers[:1]}); c.Offered([]floodmark.Shown{none}) || c.Offered([]floodmark.Shown{shown, none}) || !approval.OnlyOnce(shown) {
		t.Error("a yes for good was taken where none was offered")
	}
}
