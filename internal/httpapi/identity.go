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

// OwnerMay is all that an owner can be permitted. Events are not among it: who
// sends them cannot be who answers the questions they raise.
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

// Has reports whether m permits all that is needed. Needing nothing is never
// permitted: a method that forgot to say what it needs is closed.
func (m May) Has(need May) bool { return need != 0 && m&need == need }

// Role is the role of people that has the first of these permissions, as
// service.yaml calls it.
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

// Words returns the set's words, in their order.
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

// ParseMay reads words. With an error it returns the empty set.
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

// MarshalJSON writes the words.
func (m May) MarshalJSON() ([]byte, error) { return json.Marshal(m.Words()) }

// UnmarshalJSON reads words and refuses those it does not know.
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
	// Tenant is whose sessions it is about; empty on a laptop.
	Tenant string
	// Name says who it is, for the journal.
	Name string
	// Channel says how it was proved.
	Channel string
	// May is what it is permitted.
	May May
	// Groups are those that an identity provider says a person is in.
	Groups []string
	// Ends is when what it showed ends; zero if it does not, or if that is not known.
	Ends time.Time
	// Machine is the id of a laptop that joined the fleet; empty for other callers.
	Machine string
	// Enrols is how often what it showed may enrol laptops; nil for people, who are
	// not counted.
	Enrols *Enrols
	// Why tells an unknown caller why it is; it holds no secret.
	Why string
	// Unsure says that it could not be found out who calls: asking again may help.
	Unsure bool
}

// Enrols is how often a token may enrol laptops, at all nodes together.
type Enrols struct {
	// Token is what its uses are counted by; it tells nothing about the token.
	Token floodmark.Digest
	Most  int64
}

// The channels a caller can be proved by.
const (
	HookSocket    = "hook.sock"
	OwnerSocket   = "owner.sock" // the only one where a code is told
	ByToken       = "token"
	ByCertificate = "certificate"
	ByProvider    = "oidc"    // a token that an identity provider signed
	ByMachine     = "machine" // a token that the fleet gave to a laptop
)

type identityKey struct{}

// WithIdentity says who is calling. Only what has proved it may say so: a
// listener that knows its peer, or [Access].
func WithIdentity(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// IdentityOf returns the caller; the zero Identity if it proved none.
func IdentityOf(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}
