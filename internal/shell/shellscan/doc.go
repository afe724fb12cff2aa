// Package shellscan computes what a shell command line would do: which files it reads, writes,
// deletes and runs as code, which addresses it reaches, and what cannot be known before it runs.
//
// It parses a line with a real shell parser and follows all values that are constant: through
// assignments, lists, pipes, substitutions, functions, nested scripts and commands that start other
// commands. It runs nothing, does not read the disk and uses no environment except the given one.
// The effects of single commands are data ([Entry]). If it does not understand a line, the report
// says so and still contains everything that was found.
package shellscan
