// Package commandbook holds the descriptions of commands: what each word and option of a command
// names, what the command does with it, and how its output is labelled. An [Entry] is such a
// description. It only holds the data; internal/shell/shellscan applies it to a command line.
package commandbook
