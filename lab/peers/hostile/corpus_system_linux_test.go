package hostile

import (
	"slices"
	"strings"
	"testing"
)

// A hostile is one case: what the server does, and how it must end.
type hostile struct {
	name string
	// does and ends are for people. They make up the table in the reference.
	does, ends string
	// begin is called before any request. server handles the requests.
	begin  func(*server)
	server methods
	// stays says that the server does not end when its input ends.
	stays bool
	// play is what a client does, with checks of the results.
	play func(*testing.T, *stand)
}

// A stand is the hostile server of a case beside an honest one.
type stand struct {
	*world
	// bad speaks to the hostile server, good to the honest one.
	bad, good *client
	// plays is the name of the case.
	plays string
}

// A family is a group of cases with the same aim.
type family struct {
	name, about string
	cases       []hostile
}

// families returns all cases.
func families() []family {
	return []family{
		{"poison", "They give orders to the model, wherever a server can put a text.", poison()},
		{"rug pull", "They are nice when they are looked at, and change later.", rugPull()},
		{"shadow", "Their tools look like somebody else's.", shadow()},
		{"hidden text", "They write what people do not see and models read.", hiddenText()},
		{"size", "They say more than anybody can keep.", slices.Concat(size(), sizeOfDefinitions())},
		{"no end", "They never come to an end.", slices.Concat(noEnd(), silence(), stays())},
		{"broken speech", "Their lines are no messages, or mean two things.", brokenSpeech()},
		{"broken order", "They answer what nobody asked, or not what was asked.", slices.Concat(brokenOrder(), brokenEnds())},
		{"abuse of the client", "They ask the client for what is not theirs.", slices.Concat(abuse(), abuseMore())},
		{"false claims", "They say of themselves that they can be trusted.", claims()},
	}
}

func find(name string) (hostile, bool) {
	if name == honest {
		return hostile{}, true
	}
	for _, f := range families() {
		if i := slices.IndexFunc(f.cases, func(h hostile) bool { return h.name == name }); i >= 0 {
			return f.cases[i], true
		}
	}
	return hostile{}, false
}

// TestHostileServers runs every case behind the real wrapper. It must end as described, with the
// honest server unharmed and no process left.
func TestHostileServers(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the real program for a while")
	}
	t.Parallel()
	house := monitor(t)
	// In a group, so that the monitor ends only after the last case.
	t.Run("cases", func(t *testing.T) {
		for _, f := range families() {
			for _, h := range f.cases {
				t.Run(strings.ReplaceAll(f.name, " ", "-")+"/"+h.name, func(t *testing.T) {
					t.Parallel()
					play(t, house, h)
				})
			}
		}
	})
}

func play(t *testing.T, house *world, h hostile) {
	t.Helper()
	s := &stand{world: house.apart(t), plays: h.name}
	s.good = s.connect(t, honest, honest)
	s.good.hello()
	s.unharmed(t)
	s.bad = s.connect(t, "hostile", h.name)
	h.play(t, s)
	s.unharmed(t)
	s.bad.leave()
	s.bad.reaped()
	s.unharmed(t)
	s.good.leave()
	s.good.reaped()
}

// unharmed checks that the honest server works, with all its tools.
func (s *stand) unharmed(t *testing.T) {
	t.Helper()
	if names := s.good.tools(); !slices.Equal(names, []string{"look_around", "post_letter"}) {
		t.Errorf("the honest server's tools: %q\n%s", names, s.good.notes)
	}
	if text, failed := s.good.call("look_around", `{}`); failed || text != "a plain answer" {
		t.Errorf("the honest server answers %q, %v", text, failed)
	}
}

// holds checks that a tool is not shown, that no call of it is made, and that the model and the
// owner are told why.
func (s *stand) holds(t *testing.T, tool, why string) {
	t.Helper()
	if names := s.bad.tools(); slices.Contains(names, tool) {
		t.Errorf("%q is shown: %q", tool, names)
	}
	s.refused(t, tool, `{}`, "is held: "+why)
	if held := s.held(t); len(held) == 0 {
		t.Error("the owner is not told of anything")
	}
}

// refused checks that a call is refused with a text.
func (s *stand) refused(t *testing.T, tool, args, line string) {
	t.Helper()
	if text, failed := s.bad.call(tool, args); !failed || !strings.Contains(text, line) {
		t.Errorf("%s: %q, refused %v, want %q", tool, text, failed, line)
	}
}

// works checks that a tool can be called.
func (s *stand) works(t *testing.T, tool string) {
	t.Helper()
	if text, failed := s.bad.call(tool, `{}`); failed {
		t.Errorf("%s: %s", tool, text)
	}
}

// noLetter checks that what the server wrote does not make the client's agent write to a stranger.
func (s *stand) noLetter(t *testing.T) {
	t.Helper()
	s.refused(t, "mail_card", `{"to":"mallory@evil.example"}`, "mail_card")
}

// marked checks the session's mark after what the server said.
func (s *stand) marked(t *testing.T, want string) {
	t.Helper()
	if got := s.mark(t, s.bad); got != want {
		t.Errorf("the mark is %q, want %q", got, want)
	}
}
