package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/quiet"
	"github.com/floodmark/floodmark/policy/policyfile"
)

// Settings are what a policy says besides its rules. The zero Settings are
// those of no policy: they enforce by restricting and relax nothing.
type Settings struct {
	Profile string
	// Enforce is false in a dry run: decisions are made, not acted upon.
	Enforce bool
	// Relax says whether owner-stated arguments may raise a call's trust.
	Relax bool
	// StopUnseen says that a session may call nothing any more after a call ran in it that nobody
	// had allowed.
	StopUnseen bool
	// MaxIterations ends a runaway turn.
	MaxIterations int
	// TicketTTL is how long a question stays open. Wait is how long it stays open if the agent can
	// wait for the answer; if it is zero, such an agent gets an answer without waiting, like any
	// other.
	TicketTTL, Wait time.Duration
	ToolWide        bool        // an approval may cover a whole tool
	MaxTries        int         // how many wrong codes void a question
	PerHour         int         // how many questions a session may ask in an hour; zero means [UsualPerHour]
	Quiet           quiet.Hours // the hours in which no question is sent
	// AdminTwo says that two of the People must approve a call that changes the agent or the
	// monitor.
	AdminTwo bool
	People   People
	// AuditorOn says that an auditor is configured. AuditorFailMode says what follows
	// if it does not answer.
	AuditorOn       bool
	AuditorFailMode FailMode
	// FreeContent says what becomes of a relaxed call that carries free text.
	FreeContent FreeContent
	// FetchSteered is the verdict on reading a URL that only outside text named.
	FetchSteered floodmark.Verdict
	// Planted is the verdict on writing an address that only outside text named into a file.
	Planted floodmark.Verdict
	// Choices is how many bits of information a session may leak by choosing its requests, for each
	// secrecy of what was read: Secret and Private.
	Choices [floodmark.Private + 1]int
}

// UsualPerHour is how many questions a session may ask in an hour if the policy
// does not say: people do not read more than one a minute.
const UsualPerHour = 60

// A FailMode says what follows when an auditor or a verifier does not answer.
// Smaller is safer: the zero value is [FailBlock].
type FailMode uint8

// The fail modes. The policy writes block, warn, allow; verifiers say deny
// for block.
const (
	FailBlock FailMode = iota
	FailWarn
	FailAllow
)

func (m FailMode) String() string {
	switch m {
	case FailWarn:
		return "warn"
	case FailAllow:
		return "allow"
	default:
		return "block"
	}
}

// FreeContent says what a relaxed call may carry below Shared.
// Smaller is safer: the zero value is [CapAudit].
type FreeContent uint8

// What becomes of free text in a relaxed call.
const (
	CapAudit    FreeContent = iota // at most Audit, whatever the text
	InertAllows                    // Allow if the text is inert, else Audit
)

// A Verifier is a gate outside that must agree before a call proceeds. How it is
// reached is in the program's configuration; the policy says which calls it is for.
type Verifier struct {
	Name     string
	Include  []string // only these tools; none means all
	Exclude  []string // all tools but these
	FailMode FailMode
	Timeout  time.Duration
}

// People are those who may approve a call that needs two people. The keys are the names under which
// the owner's channels know them, such as «telegram:4711», and the values say who it is. A person
// with two names is still one person.
type People map[string]string

// Person returns the person whom a channel has proved, if the policy knows them. The channels
// owner.sock and telegram give the number of a user, with or without «user» before it. The console
// gives the name of the user who opened it at owner.sock or, for a page of the network, «oidc:» with
// the name of oidc. Token and certificate give their name, and oidc gives the name that it got from
// the identity provider.
func (s Settings) Person(channel, name string) (string, bool) {
	if channel == "console" {
		channel = "owner.sock"
		if logged, ok := strings.CutPrefix(name, "oidc:"); ok {
			channel, name = "oidc", logged
		}
	}
	if channel == "owner.sock" || channel == "telegram" {
		name = strings.TrimPrefix(name, "user ")
	}
	who, ok := s.People[channel+":"+name]
	return who, ok
}

// provers returns the channels that prove who answers. A conversation with an agent is
// not among them, because only the agent says who speaks there.
func provers() []string { return []string{"owner.sock", "token", "certificate", "telegram", "oidc"} }

// readPeople reads who may approve a call that needs two people.
func readPeople(r *policyfile.Reader, approvals *yaml.Node) People {
	out := People{}
	persons, values := policyfile.Pairs(policyfile.Value(approvals, "people"))
	for i, p := range persons {
		for _, n := range policyfile.Items(values[i]) {
			channel, name, ok := strings.Cut(n.Value, ":")
			if !ok || name == "" || !slices.Contains(provers(), channel) {
				r.Fault(n, "wrong-value", fmt.Sprintf("%s says nobody that a channel could prove", policyfile.Quote(n)), "write owner.sock:1000, telegram:4711, token:NAME, certificate:NAME or oidc:NAME")
			}
			if other, twice := out[n.Value]; twice {
				r.Fault(n, "duplicate-name", fmt.Sprintf("%s is %s already", policyfile.Quote(n), other), "give it to one person")
			}
			out[n.Value] = p.Value
		}
	}
	if two := policyfile.Value(approvals, "admin"); yes(two, "two") && len(persons) < 2 {
		r.Fault(two, "wrong-value", "nobody could approve it: it takes two people, and the policy does not name two", "name them under approvals.people: {anna: [\"telegram:4711\"], ben: [\"telegram:4712\"]}")
	}
	return out
}
