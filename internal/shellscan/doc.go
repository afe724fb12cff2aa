// Package shellscan computes what a shell command line would do, as the sum of its parts: which
// files it reads, writes, deletes and runs as code, which addresses it reaches, and what cannot be
// known before it runs.
//
// It parses a line with a real shell parser and follows it as far as constants go: assignments,
// lists, pipes, substitutions, functions, nested scripts and commands that start others. It runs
// nothing, reads no disk and uses no environment except the given one. The effects of single
// commands are data ([Entry]). It does not guess at a line it does not understand: the report says
// so, and still holds everything found on the way.
package shellscan
