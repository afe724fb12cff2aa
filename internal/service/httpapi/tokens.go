package httpapi

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// A Kind is what a token is for. It is part of the token's own text, so that a changed file cannot
// turn an agent's token into an owner's.
type Kind string

// The kinds. They share no permission.
const (
	AgentKind   Kind = "agent"   // sends events and does nothing else, ever
	OwnerKind   Kind = "owner"   // has the permissions chosen from OwnerMay when it was made
	EnrolKind   Kind = "enrol"   // makes laptops machines of the fleet
	MachineKind Kind = "machine" // is a machine of the fleet; stored in the fleet's book, not in a file
)

// most returns all permissions that a kind can have.
func (k Kind) most() May {
	switch k {
	case AgentKind:
		return MayEvents
	case OwnerKind:
		return OwnerMay
	case EnrolKind:
		return MayEnrol
	case MachineKind: // none in a file
	}
	return 0
}

const (
	// MaxTokens bounds the tokens and certificates of one file, because every call is compared with
	// all of them.
	MaxTokens = 4096
	// MaxTokenName bounds a token's name and a certificate's.
	MaxTokenName   = 512
	secretBytes    = 32
	idDigits       = 8
	maxTokenGroups = 64
	// MaxUses bounds how many laptops one token enrols: more than any fleet has.
	MaxUses = 1_000_000
	// tokenPrefix begins all our tokens.
	tokenPrefix = "fm_"
)

// A Token is the record of a token or of an admitted certificate. It says who it is for, and never
// contains the secret.
//
// Rules for changing it: fields are only added, and the absence of one must mean the safest value.
type Token struct {
	ID     string `json:"id"`
	Kind   Kind   `json:"kind"`
	Tenant string `json:"tenant,omitempty"`
	Name   string `json:"name"`
	// May are an owner's permissions. Other kinds have fixed ones.
	May May `json:"may"`
	// Groups are the groups whose questions the owner may answer.
	Groups  []string  `json:"groups,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Expires is zero for a token without expiry.
	Expires time.Time `json:"expires,omitzero"`
	// Uses is how many laptops an enrolment token enrols; zero is one.
	Uses int64 `json:"uses,omitempty"`
	// Hash is the SHA-256 of the token's text. Certificate is the spiffe:// name
	// of a client certificate, or its common name. Exactly one of them is set.
	Hash        floodmark.Digest `json:"hash,omitzero"`
	Certificate string           `json:"certificate,omitempty"`
}

// ErrNoToken says that a token or certificate is unknown, revoked or expired.
var ErrNoToken = errors.New("no such token")

// Tokens is a file of tokens. It is safe for concurrent use; a change by another process takes
// effect at the next call.
type Tokens struct {
	path string
	now  func() time.Time

	mu     sync.Mutex // guards all below
	tokens []Token
	seen   os.FileInfo // the file from which tokens were read; nil for none
}

// OpenTokens reads a file of tokens. A missing file has none.
func OpenTokens(path string, now func() time.Time) (*Tokens, error) {
	t := &Tokens{path: path, now: now}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t, t.refresh()
}

// Create makes a token and returns its text, which is not stored. It uses the fields Kind, Tenant,
// Name, May, Groups, Uses and Expires of want.
func (t *Tokens) Create(want Token) (text string, made Token, err error) {
	var secret [secretBytes]byte
	// It never fails: without randomness the program crashes.
	_, _ = rand.Read(secret[:])
	text = tokenPrefix + string(want.Kind) + "_" + hex.EncodeToString(secret[:])
	want.Hash, want.Certificate = sha256.Sum256([]byte(text)), ""
	made, err = t.add(want)
	if err != nil {
		return "", Token{}, err
	}
	return text, made, nil
}

// Admit admits a client certificate by its verified name. It uses the fields Kind, Tenant, Name,
// May, Groups, Uses, Expires and Certificate of want.
func (t *Tokens) Admit(want Token) (Token, error) {
	want.Hash = floodmark.Digest{}
	return t.add(want)
}

func (t *Tokens) add(want Token) (Token, error) {
	var id [idDigits / 2]byte
	_, _ = rand.Read(id[:])
	want.ID, want.Created = hex.EncodeToString(id[:]), t.now().UTC().Truncate(time.Second)
	if want.Kind != OwnerKind {
		want.May = want.Kind.most()
	}
	if want.Uses == 1 && want.Kind == EnrolKind {
		want.Uses = 0 // which means one, also to older programs
	}
	if err := want.check(); err != nil {
		return Token{}, err
	}
	return want, t.change(func(all []Token) ([]Token, error) {
		same := func(o Token) bool {
			return o.ID == want.ID || want.Certificate != "" && o.Certificate == want.Certificate
		}
		if slices.ContainsFunc(all, same) {
			return nil, fmt.Errorf("there is a token or certificate %q already; revoke it first", want.Name)
		}
		return append(all, want), nil
	})
}

// Revoke ends a token or a certificate, by its id, at once.
func (t *Tokens) Revoke(id string) error {
	return t.change(func(all []Token) ([]Token, error) {
		left := slices.DeleteFunc(slices.Clone(all), func(o Token) bool { return o.ID == id })
		if len(left) == len(all) {
			return nil, fmt.Errorf("%w: %q; list them to see their ids", ErrNoToken, id)
		}
		return left, nil
	})
}

// List returns all tokens, oldest first.
func (t *Tokens) List() ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(); err != nil {
		return nil, err
	}
	return slices.Clone(t.tokens), nil
}

// Find returns the caller that a token belongs to.
func (t *Tokens) Find(text string) (Identity, error) {
	hash := sha256.Sum256([]byte(text))
	return t.find(ByToken, func(o Token) bool {
		same := subtle.ConstantTimeCompare(o.Hash[:], hash[:]) == 1
		return same && o.Certificate == "" && strings.HasPrefix(text, tokenPrefix+string(o.Kind)+"_")
	})
}

// FindCertificate returns the caller that a certificate's name belongs to. The caller must have
// verified the certificate.
func (t *Tokens) FindCertificate(name string) (Identity, error) {
	return t.find(ByCertificate, func(o Token) bool { return o.Certificate != "" && o.Certificate == name })
}

// find compares all tokens, so that its timing reveals nothing.
func (t *Tokens) find(channel string, is func(Token) bool) (Identity, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(); err != nil {
		return Identity{}, err
	}
	var found *Token
	for i := range t.tokens {
		if is(t.tokens[i]) {
			found = &t.tokens[i]
		}
	}
	if found == nil || !found.Expires.IsZero() && !t.now().Before(found.Expires) {
		return Identity{}, ErrNoToken
	}
	who := Identity{Tenant: found.Tenant, Name: found.Name, Channel: channel, May: found.May & found.Kind.most(), Groups: found.Groups, Ends: found.Expires}
	if found.Kind == EnrolKind {
		who.Enrols = &Enrols{Token: found.counted(), Most: found.Most()}
	}
	return who, nil
}

// Most returns how many laptops a token enrols; 0 if it enrols none.
func (o Token) Most() int64 {
	if o.Kind != EnrolKind {
		return 0
	}
	return max(o.Uses, 1)
}

// counted returns the key under which a token's uses are counted. It is the same at all nodes.
func (o Token) counted() floodmark.Digest {
	return floodmark.DigestOf("floodmark uses of a token 1\x00" + o.Hash.String() + "\x00" + o.Certificate)
}

// check returns why a token must not be in a file, or nil.
func (o Token) check() error {
	switch {
	case o.Kind.most() == 0:
		return fmt.Errorf("token %q: a token is for an agent, an owner or to enrol laptops, not for %q", o.Name, o.Kind)
	case o.May == 0 || o.May&^o.Kind.most() != 0:
		return fmt.Errorf("token %q: the kind %s can be permitted %s, not %s", o.Name, o.Kind, o.Kind.most(), o.May)
	case o.Name == "" || len(o.Name) > MaxTokenName || len(o.Certificate) > MaxTokenName:
		return fmt.Errorf("token %q: a name has 1 to %d bytes", o.Name, MaxTokenName)
	case len(o.Tenant) > journal.MaxTenantBytes:
		return fmt.Errorf("token %q: a tenant has at most %d bytes", o.Name, journal.MaxTenantBytes)
	case len(o.Groups) > maxTokenGroups || o.Kind != OwnerKind && len(o.Groups) > 0 || slices.Contains(o.Groups, ""):
		return fmt.Errorf("token %q: an owner is in at most %d groups, anybody else in none", o.Name, maxTokenGroups)
	case o.Uses < 0 || o.Uses > MaxUses || o.Uses > 0 && o.Kind != EnrolKind:
		return fmt.Errorf("token %q: a token to enrol enrols 1 to %d laptops, any other none", o.Name, MaxUses)
	case len(o.ID) != idDigits:
		return fmt.Errorf("token %q: its id has %d characters, want %d", o.Name, len(o.ID), idDigits)
	case o.Hash.IsZero() == (o.Certificate == ""):
		return fmt.Errorf("token %q: it needs either a hash or a certificate's name", o.Name)
	}
	return nil
}
