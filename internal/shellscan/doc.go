// Package shellscan says what a shell command line would do, as the sum of its
// parts: which files it reads, writes, deletes and runs as code, which
// addresses it reaches, and what of it cannot be known before it runs.
//
// It reads a line with a real shell parser and follows it as far as constants
// go: assignments, lists, pipes, substitutions, functions, scripts in scripts
// and commands that start others. It runs nothing, looks at no disk and knows
// no environment but the one it is told. What single commands do is data
// ([Entry]). A line it does not understand is not guessed at: the report says
// so, and everything that was found on the way is in it all the same.
package shellscan
