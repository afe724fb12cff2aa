// Package people identifies a person by an identity provider (OpenID Connect): at the monitor, by a
// signed token; at the person's own machine, by the device flow that gets such a token (RFC 8628).
// It makes no decisions: what a person may do follows from the groups it returns.
//
// It follows no redirect, uses no proxy, trusts no key that a token brings along, and never calls
// an address that a token names.
//
// The library (go-oidc) keeps a key until it meets an unknown one, accepts more forms of a token
// than a header has, and takes the last of two claims. So keys are fetched anew every five minutes,
// only the compact form is accepted, and duplicate claims are refused.
package people
