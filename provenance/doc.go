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
// Matching here is loose: it folds case, look-alikes and punctuation. It finds more
// than there is, and is used to lower trust and to explain. Only strict matching, of
// whole tokens as the owner typed them, may raise trust: internal/language does it.
package provenance
