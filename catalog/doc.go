// Package catalog holds what is known about tools: the label of a tool's result, the effects of a
// call, and which arguments decide who is affected. It reads that knowledge from YAML, ships some
// of it, and classifies calls by it. It never trusts a tool's name alone and decides nothing.
//
// Read the files in this order:
//
//	profile.go   what is known about one tool
//	catalog.go   all profiles; the user's before the shipped ones
//	classify.go  what one call is
//	path.go      what a path in an argument means
//	command.go   the first words of a command line
//	commandline.go  what a command line is, as internal/shell/shellscan reads it
//	parse.go     the YAML language, with the place of every mistake
package catalog
