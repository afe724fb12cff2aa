package people

import (
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// A Given is what the fleet said about a token that its operator made, when the token was first
// used there. It is not secret; the token itself is in the pass.
//
// Rules for changing it: keys are only added. The fleet checks at each call what the token may do;
// this copy is only for display.
type Given struct {
	Who    string   `json:"who,omitempty"`
	Tenant string   `json:"tenant,omitempty"`
	May    []string `json:"may,omitempty"`
}

// The form of a token that acts for a tenant. Other kinds are refused.
const (
	ownerToken   = "fm_owner_"
	secretDigits = 64
	maxGivenMay  = 16
)

// ParseGiven reads a token that «floodmark fleet token create --kind owner» printed. Its errors
// contain nothing of the text.
func ParseGiven(text string) (Pass, error) {
	text = strings.TrimSpace(text)
	secret, is := strings.CutPrefix(text, ownerToken)
	raw, err := hex.DecodeString(secret)
	switch {
	case text == "":
		return Pass{}, errors.New("it is empty")
	case !is && strings.HasPrefix(text, "fm_"):
		return Pass{}, errors.New("it holds a token that is for no person: people show one of the kind owner")
	case !is || err != nil || len(raw) != secretDigits/2:
		return Pass{}, errors.New("it does not hold one whole token and nothing else")
	}
	return Pass{Token: text}, nil
}

// Take records what the fleet said about the token. It leaves out invalid names, because the names
// are shown to people.
func (f *Fleet) Take(who, tenant string, may []string, ends time.Time) {
	f.Given = &Given{}
	if isName(who) {
		f.Given.Who = who
	}
	if isName(tenant) {
		f.Given.Tenant = tenant
	}
	for _, word := range may[:min(len(may), maxGivenMay)] {
		if isName(word) {
			f.Given.May = append(f.Given.May, word)
		}
	}
	f.Pass.Ends = ends
}

// Who returns the person's name at the fleet, for display.
func (f Fleet) Who() string {
	if f.Given != nil {
		return f.Given.Who
	}
	return f.Pass.Who()
}

// SameToken reports whether two logins use the same token.
func (f Fleet) SameToken(other Fleet) bool {
	return f.Given != nil && other.Given != nil && f.Pass.Token == other.Pass.Token
}

// whole reports whether a login is usable: its address is in canonical form, and it has either a
// valid issuer or a token from the operator, but not both.
func (f Fleet) whole() bool {
	if at, err := FleetURL(f.URL); err != nil || at != f.URL {
		return false
	}
	if f.Given == nil {
		return CheckIssuer(f.Login.Issuer) == nil
	}
	_, err := ParseGiven(f.Pass.Token)
	return err == nil && f.Login.Issuer == "" && f.Login.ClientID == "" && f.Pass.Refresh == ""
}
