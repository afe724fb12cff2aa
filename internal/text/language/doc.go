// Package language reads what an owner types: which of it asks for something, what
// it names, when it should happen, and which values it states. It compares only
// strictly, whole tokens as they were typed. Wherever it does not understand, it
// reports that nothing was asked for. It knows neither tools nor sessions, and it
// does not decide whether a call is covered: package intent does.
//
//	stated.go     the values that a message states
//	request.go    the clauses of a message that may ask for something
//	target.go     what a clause asks to act on, and how much
//	when.go       the days and hours that a message allows
//	titles.go     the names that a message gives to things
//	order.go      where an English order begins and what it goes on to
//	plain.go      orders in a language of which only plain orders are read
//	lexicon.go    the words of each language, from words/*.yaml
package language
