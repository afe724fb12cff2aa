package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/quiet"
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
	// StopUnseen says that a session in which something ran unseen may call
	// nothing any more.
	StopUnseen bool
	// MaxIterations ends a runaway turn.
	MaxIterations int
	// TicketTTL is how long a question waits, Wait how long one for which an agent waits
	// (zero: no longer), ToolWide whether an approval may cover a whole tool, MaxTries how
	// many wrong codes void a question, PerHour how many questions a session may ask in an
	// hour; zero means [UsualPerHour].
	TicketTTL, Wait time.Duration
	ToolWide        bool
	MaxTries        int
	PerHour         int
	Quiet           quiet.Hours // the hours in which no question is sent
	// AdminTwo says that two of the People must approve what changes the agent or
	// the monitor.
	AdminTwo bool
	People   People
	// AuditorOn says that an auditor is configured, AuditorFailMode what its
	// silence means.
	AuditorOn       bool
	AuditorFailMode FailMode
	// FreeContent says what becomes of a relaxed call that carries free text.
	FreeContent FreeContent
	// FetchSteered is the verdict on reading a URL that only outside text named.
	FetchSteered floodmark.Verdict
	// Planted is the verdict on writing an address that only outside text named into a file.
	Planted floodmark.Verdict
	// Choices is how many bits the requests of a session may tell by what is chosen
	// in them, by the secrecy of what was read: Secret and Private.
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

// A Verifier is a gate outside that must agree before a call proceeds. How it
// is reached is the program's configuration; whom it concerns is policy.
type Verifier struct {
	Name     string
	Include  []string // only these tools; none means all
	Exclude  []string // all tools but these
	FailMode FailMode
	Timeout  time.Duration
}

// People are those who may approve what takes two of them: each with the names
// under which the owner's channels know them, as [Settings.Person] takes them. One
// person under two names is one.
type People map[string]string // by name: who it is

// Person returns whom a channel has proved, if the policy knows them: owner.sock and
// telegram with a user's number, token and certificate with their name, oidc with
// the name that the identity provider gives. A number may stand behind «user», as
// these two channels write it; a name is taken as it is.
func (s Settings) Person(channel, name string) (string, bool) {
	if channel == "owner.sock" || channel == "telegram" {
		name = strings.TrimPrefix(name, "user ")
	}
	who, ok := s.People[channel+":"+name]
	return who, ok
}

// provers are the channels that prove who answers. A conversation with an agent is
// not among them: who speaks there is the agent's word.
func provers() []string { return []string{"owner.sock", "token", "certificate", "telegram", "oidc"} }

// readPeople reads who may approve what takes two.
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
