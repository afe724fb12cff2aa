// Package people identifies people by an identity provider (OpenID Connect). At the monitor it
// verifies signed tokens, and exchanges the codes that a browser brings (the authorization code flow
// with PKCE); on a person's own machine it gets such a token by the device flow (RFC 8628). It makes no decisions: its callers decide what a person may do by the groups it returns.
//
// It follows no redirect and uses no proxy. It trusts no key that is in a token, and never calls an
// address that a token names.
//
// The library (go-oidc) has three weaknesses for this. It keeps its keys until it finds an unknown
// one, so keys are fetched anew every five minutes. It accepts forms of a token that no header has,
// so only the compact form is accepted. It takes the last of two equal claims, so duplicate claims
// are refused.
package people
