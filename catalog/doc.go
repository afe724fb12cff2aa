// Package catalog holds what is known about tools: what a tool's result is
// worth, what calling it does, and which arguments decide who is affected. It
// reads that knowledge from YAML, ships some of it, and classifies calls by
// it. It refuses to know a tool by its name alone, and it decides nothing.
//
// Read the files in this order:
//
//	profile.go   what is known about one tool
//	catalog.go   all profiles; the user's before the shipped ones
//	classify.go  what one call is
//	path.go      what a path in an argument means
//	command.go   the first words of a command line
//	commandline.go  what a command line is, as internal/shellscan reads it
//	parse.go     the YAML language, with the place of every mistake
package catalog
