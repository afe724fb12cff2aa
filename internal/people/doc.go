// Package people finds out who a person is by asking an identity provider (OpenID
// Connect): at the monitor, by the signed token a person shows; at the person's
// own machine, by the device flow that gets such a token (RFC 8628). It decides
// nothing: what a person may do follows from the groups it returns.
//
// It follows no redirect, uses no proxy, believes no key that a token brings
// along, and never calls an address that a token names.
//
// The library (go-oidc) keeps a key until it meets an unknown one, reads more forms of a
// token than a header has, and takes the last of two claims. So keys are fetched anew
// every five minutes, only the compact form is taken, and doubled claims are refused.
package people
