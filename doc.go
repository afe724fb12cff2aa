// Package floodmark holds the types and words that every other package uses. It makes no decisions
// and has no side effects.
//
// Read the files in this order:
//
//	label.go     how far content is trusted, and who may see it
//	origin.go    where content came from
//	action.go    what an agent wants to do next
//	argument.go  where one argument of an action came from
//	decision.go  what we answer
//	fact.go      what we record for ever
//
// # Smaller is safer
//
// Every security value here is an ordered number whose zero is the safest choice, and combining two
// of them is always min. A forgotten field therefore means untrusted, secret and restricted, never
// the opposite.
package floodmark
