// Package provenance knows where the content of a session came from: which
// sources it saw and what they did to its mark, and where the value of an argument
// was seen before. It judges nothing, and it keeps no content.
//
//	ledger.go   the sources of one session, and its mark
//	index.go    keyed hashes of tokens, which survive without the content
//	trace.go    where one argument came from
//	record.go   the records that tools return, by the values of their fields
//
// # Strict and loose
//
// Matching here is loose: it folds case, look-alikes and punctuation. It can find a
// value where a slightly different one was, so it is used to lower trust and to explain.
// Only strict matching may raise trust: of whole tokens, as the owner typed them. That is
// done in internal/text/language.
package provenance
