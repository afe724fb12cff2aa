package catalog

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// pushes reports a line that sends nothing but what a plain push of one branch
// sends, to where the repository of the folder it runs in came from: no other
// remote, nothing forced, renamed or deleted, and nothing in the line decides
// anew where a push goes or what is in it.
func pushes(r *shellscan.Report, line string) bool {
	if !r.Understood || slices.ContainsFunc(strings.FieldsFunc(line, notOfWord), moves) {
		return false
	}
	found := false
	for i := range r.Parts {
		p := &r.Parts[i]
		push := len(p.Words) > 1 && p.Words[0] == "git" && p.Words[1] == "push"
		switch {
		case push && plainPush(p.Words[2:]):
			found = true
		case push, slices.ContainsFunc(p.Effects, steers):
			return false
		}
	}
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.URL != "" || e.Kind == shellscan.Write && e.Command != "git" && !formats(e.Command) {
			return false
		}
	}
	return found
}

// plainPush reports the words of a push that names no more than the usual
// remote and a branch of the same name there.
func plainPush(words []string) bool {
	var operands []string
	for _, w := range words {
		switch {
		case slices.Contains([]string{"-q", "-u", "-v", "--quiet", "--set-upstream", "--verbose", "--porcelain", "--progress"}, w):
		case w == "" || w[0] == '-':
			return false
		default:
			operands = append(operands, w)
		}
	}
	if len(operands) > 2 || len(operands) > 0 && operands[0] != "origin" {
		return false
	}
	return len(operands) < 2 || strings.IndexFunc(operands[1], func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._/-", c))
	}) < 0
}

// steers reports an effect that may decide what a push sends, and where.
func steers(e floodmark.Effect) bool {
	return e == floodmark.Send || e == floodmark.Admin || e == floodmark.Change
}

// formats reports a program that writes only what it read, in good order.
func formats(command string) bool {
	return slices.Contains([]string{"gofmt", "gofumpt", "goimports", "rustfmt", "clang-format"}, command)
}

// moves reports a word that makes a line go on elsewhere.
func moves(word string) bool { return word == "cd" || word == "pushd" || word == "popd" }

func notOfWord(c rune) bool { return c <= ' ' || strings.ContainsRune(";&|(){}`$\"'", c) }
