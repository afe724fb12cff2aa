// Package provenance knows where the content of a session came from: which
// sources it saw and what they did to its mark, where the value of an argument
// was seen before, and what the owner stated. It judges nothing, and it keeps
// no content but the owner's own words.
//
//	ledger.go     the sources of one session, and its mark
//	token.go      the typed tokens of a text
//	normalise.go  the form of a text in which look-alikes are alike
//	index.go      keyed hashes of tokens, which survive without the content
//	stated.go     what the owner typed, for strict matching
//	trace.go      where one argument came from
//
// # Strict and loose
//
// Two kinds of matching live here and are never mixed up. Loose matching folds
// case, look-alikes and punctuation; it finds more than there is, and is used
// to lower trust and to explain. Strict matching finds only whole tokens as
// they were typed, and is the only one that may raise trust.
package provenance
