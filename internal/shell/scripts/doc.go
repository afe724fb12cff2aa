// Package scripts reads texts that stand in a command line and are not shell: programs for sed, awk
// and jq, diffs, escapes and single words. A program that is not fully understood is reported as one
// that may do anything.
package scripts
