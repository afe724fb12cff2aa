// Package bundle holds policies as a fleet distributes them: a version of a tenant's rules, signed
// by its author, and which subjects have which version. It trusts nothing that no known key signed.
// It knows neither what a policy says nor who may publish one.
package bundle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark/journal"
)

// The limits of a bundle.
const (
	// MaxPolicyBytes bounds a policy: the largest real one has a tenth.
	MaxPolicyBytes = 512 << 10
	// MaxNoteBytes bounds the note for people about a version.
	MaxNoteBytes = 200
	// MaxVersion bounds the versions of a tenant, so that publishing cannot fill the store.
	MaxVersion = 100_000
	// MaxValid bounds how long a bundle is valid. A node that gets no newer bundle for that long
	// must not use it any more.
	MaxValid = 400 * 24 * time.Hour
	// MaxKeys bounds the keys that are trusted at once.
	MaxKeys = 16
)

// The errors of a bundle.
var (
	// ErrMalformed says that bytes are no bundle, or that a bundle is invalid.
	ErrMalformed = errors.New("no bundle")
	// ErrUnknownKey says that a bundle was signed by an untrusted key.
	ErrUnknownKey = errors.New("signed by an unknown key")
	// ErrSignature says that the signature does not verify.
	ErrSignature = errors.New("wrong signature")
	// ErrOther says that a bundle is for another tenant or version than requested.
	ErrOther = errors.New("another bundle than the one asked for")
	// ErrWithdrawn says that a later version withdrew this one.
	ErrWithdrawn = errors.New("below the floor of a later version")
	// ErrExpired says that a bundle has expired.
	ErrExpired = errors.New("expired")
)

// A Bundle is the rules of a tenant at one version.
//
// Rules for changing it: signed bundles stay readable for ever, so a new field takes a new domain
// (see [Bundle.Seal]), which old programs refuse.
type Bundle struct {
	// Tenant owns the rules; empty for a monitor without tenants.
	Tenant string
	// Version counts from 1, without gaps, for each tenant.
	Version uint64
	// Floor is the oldest version that may be used after this one, so that a rollback cannot
	// restore rules their author withdrew.
	Floor uint64
	// Made and ValidUntil are whole seconds. After ValidUntil the profile strict applies.
	Made, ValidUntil time.Time
	// Policy is a policy file as an owner writes it.
	Policy []byte
	// Note is one line for people.
	Note string
}

// Check returns why a bundle is invalid, or nil. It does not read the policy.
func (b Bundle) Check() error {
	switch {
	case !plainName(b.Tenant):
		return fmt.Errorf("%w: the tenant's name has at most %d bytes, and nothing that cannot be printed", ErrMalformed, journal.MaxTenantBytes)
	case b.Version == 0 || b.Version > MaxVersion:
		return fmt.Errorf("%w: version %d, want 1 to %d", ErrMalformed, b.Version, MaxVersion)
	case b.Floor == 0 || b.Floor > b.Version:
		return fmt.Errorf("%w: floor %d, want 1 to the version, which is %d", ErrMalformed, b.Floor, b.Version)
	case b.Made.Unix() <= 0 || !b.ValidUntil.After(b.Made) || b.ValidUntil.Sub(b.Made) > MaxValid:
		return fmt.Errorf("%w: it holds from when it is made for at most %d days", ErrMalformed, int(MaxValid.Hours()/24))
	case b.Made.Nanosecond() != 0 || b.ValidUntil.Nanosecond() != 0:
		return fmt.Errorf("%w: its times are whole seconds", ErrMalformed)
	case len(b.Policy) == 0 || len(b.Policy) > MaxPolicyBytes:
		return fmt.Errorf("%w: the policy has %d bytes, want 1 to %d", ErrMalformed, len(b.Policy), MaxPolicyBytes)
	case !plainLine(b.Note, MaxNoteBytes):
		return fmt.Errorf("%w: the note is one line of at most %d bytes that can be printed", ErrMalformed, MaxNoteBytes)
	}
	return nil
}

// Usable returns why an opened bundle may not be used, or nil: it may be another one than
// requested, withdrawn by a later version, or expired. floor is the highest floor of all bundles
// that the caller ever used; the caller remembers it.
func (b Bundle) Usable(tenant string, version, floor uint64, now time.Time) error {
	switch {
	case b.Tenant != tenant:
		return fmt.Errorf("%w: it is for tenant %q", ErrOther, b.Tenant)
	case b.Version != version || version == 0:
		return fmt.Errorf("%w: it is version %d", ErrOther, b.Version)
	case b.Version < floor:
		return fmt.Errorf("version %d is %w, which is %d", b.Version, ErrWithdrawn, floor)
	case !now.Before(b.ValidUntil):
		return fmt.Errorf("version %d %w at %s", b.Version, ErrExpired, b.ValidUntil.UTC().Format(time.RFC3339))
	}
	return nil
}

func plainName(s string) bool {
	return plainLine(s, journal.MaxTenantBytes) && !strings.ContainsFunc(s, unicode.IsSpace)
}

// plainLine reports whether a text is one line without invisible characters.
func plainLine(s string, most int) bool {
	odd := func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }
	return len(s) <= most && utf8.ValidString(s) && !slices.ContainsFunc([]rune(s), odd)
}
