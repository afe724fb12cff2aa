package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
)

// May is a set of permissions. The zero set permits nothing.
type May uint8

// The permissions. Each is a word in the description of the API.
const (
	MayEvents  May = 1 << iota // send events
	MayView                    // see sessions, decisions, questions
	MayApprove                 // answer questions, endorse, withdraw, end grants
	MayPolicy                  // change what the policy is
	MayAdmin                   // erase sessions, take the journal out
	MayEnrol                   // make a laptop a machine of the fleet
	MayMachine                 // be one
)

// OwnerMay is the set of all permissions that an owner can have. It does not include sending
// events, because the sender of events must not answer the questions they raise.
const OwnerMay = MayView | MayApprove | MayPolicy | MayAdmin

type permission struct {
	may  May
	word string
}

func permissions() []permission {
	return []permission{
		{MayEvents, "events"},
		{MayView, "view"},
		{MayApprove, "approve"},
		{MayPolicy, "policy"},
		{MayAdmin, "admin"},
		{MayEnrol, "enrol"},
		{MayMachine, "machine"},
	}
}

// Has reports whether m has all permissions of need. It is false for an empty need, so that a
// method without a declared permission is closed.
func (m May) Has(need May) bool { return need != 0 && m&need == need }

// Role returns a role in service.yaml that has a permission of m. It returns viewer only if no
// other role has one.
func (m May) Role() string {
	for _, one := range []struct {
		may  May
		role string
	}{{MayApprove, "approver"}, {MayPolicy, "policyAuthor"}, {MayAdmin, "admin"}, {MayEnrol, "laptop"}, {MayView, "viewer"}} {
		if m&one.may != 0 {
			return one.role
		}
	}
	return "of a machine, which no person has"
}

// Words returns the permissions as words, in order.
func (m May) Words() []string {
	words := []string{}
	for _, p := range permissions() {
		if m.Has(p.may) {
			words = append(words, p.word)
		}
	}
	return words
}

func (m May) String() string {
	if m == 0 {
		return "nothing"
	}
	return strings.Join(m.Words(), ", ")
}

// ParseMay parses words. With an error it returns the empty set.
func ParseMay(words []string) (May, error) {
	var m May
	for _, w := range words {
		i := slices.IndexFunc(permissions(), func(p permission) bool { return p.word == w })
		if i < 0 {
			return 0, fmt.Errorf("unknown permission %q (want one of events, view, approve, policy, admin, enrol)", w)
		}
		m |= permissions()[i].may
	}
	return m, nil
}

// MarshalJSON encodes the words.
func (m May) MarshalJSON() ([]byte, error) { return json.Marshal(m.Words()) }

// UnmarshalJSON decodes words and refuses unknown ones.
func (m *May) UnmarshalJSON(data []byte) error {
	var words []string
	if err := json.Unmarshal(data, &words); err != nil {
		return err
	}
	got, err := ParseMay(words)
	*m = got
	return err
}

// An Identity is the caller. The zero Identity is unknown and may do nothing.
type Identity struct {
	// Tenant owns the sessions that the caller may act on; empty on a laptop.
	Tenant string
	// Name is the caller's name for the journal.
	Name string
	// Channel is how it was authenticated.
	Channel string
	// May are its permissions.
	May May
	// Groups are a person's groups according to the identity provider.
	Groups []string
	// Ends is when its credential expires; zero if never, or unknown.
	Ends time.Time
	// Machine is the id of a laptop that joined the fleet; empty for other callers.
	Machine string
	// Enrols bounds how many laptops the caller's credential may enrol; nil for people, who have no
	// limit.
	Enrols *Enrols
	// Here says that a page of the console was opened at this machine, by a person at a terminal.
	Here bool
	// Why is the reason why the caller is unknown, for the caller. It contains no secret.
	Why string
	// Unsure says that the caller could not be looked up, so that a retry may help.
	Unsure bool
}

// Enrols says how many laptops a token may enrol, at all nodes together.
type Enrols struct {
	// Token is the key for counting its uses; it does not reveal the token.
	Token floodmark.Digest
	Most  int64
}

// How a caller was authenticated.
const (
	HookSocket    = "hook.sock"
	OwnerSocket   = "owner.sock" // the only channel that gets codes
	ByToken       = "token"
	ByCertificate = "certificate"
	ByProvider    = "oidc"    // a token that an identity provider signed
	ByMachine     = "machine" // a token that the fleet gave to a laptop
	// ByConsole is a page: of a person at this machine, if the identity is Here, or of a person whom
	// an identity provider named. The names of the latter begin with ByProvider and a colon.
	ByConsole = "console"
)

type identityKey struct{}

// WithIdentity adds the caller to ctx. Use it only after authentication: in a listener that knows
// its peer, or in [Access].
func WithIdentity(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// IdentityOf returns the caller; the zero Identity if it proved none.
func IdentityOf(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}

// terminalKey marks a request from a terminal, which scripts and models do not have.
type terminalKey struct{}

// AtTerminal marks a request as one from a person's terminal. Use it only where the process that
// asks is known.
func AtTerminal(ctx context.Context) context.Context {
	return context.WithValue(ctx, terminalKey{}, true)
}

// Terminal reports whether a person at a terminal asks, at the owner's own socket. Codes are shown
// only there.
func Terminal(ctx context.Context, who Identity) bool {
	at, _ := ctx.Value(terminalKey{}).(bool)
	return at && who.Channel == OwnerSocket
}

// Present reports whether a person asks who is at this machine: at a terminal, or in a console that
// a person at a terminal opened.
func Present(ctx context.Context, who Identity) bool {
	return who.Channel == ByConsole && who.Here || Terminal(ctx, who)
}
