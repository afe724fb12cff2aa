package policy

import (
	"time"

	"github.com/floodmark/floodmark"
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
	// TicketTTL is how long a question waits, ToolWide whether an approval may
	// cover a whole tool, MaxTries how many wrong codes void a question, PerHour
	// how many questions a session may ask in an hour; zero means [UsualPerHour].
	TicketTTL time.Duration
	ToolWide  bool
	MaxTries  int
	PerHour   int
	// Quiet are the hours in which nobody is asked.
	Quiet Quiet
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
	// ChecksAsFiles says that a test, build or check, whose code all lies in
	// files, counts as those files and not as the session that starts it.
	ChecksAsFiles bool
}

// UsualPerHour is how many questions a session may ask in an hour if the policy
// does not say: nobody reads more than one a minute.
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
