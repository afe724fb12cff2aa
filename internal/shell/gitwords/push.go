package gitwords

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// Pushes reports whether all that a line sends is a plain push of one branch, from the folder of
// the project to its usual remote. Nothing is forced, renamed or deleted, and nothing else in the
// line changes where the push goes or what it sends. The branch is empty if the push sends the
// branch that is checked out at that point.
func Pushes(r *shellscan.Report, project string) (branch string, ok bool) {
	return pushes(r, project, func(p *shellscan.Part) bool { return slices.ContainsFunc(p.Effects, steers) })
}

// PushesToo reports the same as [Pushes], but programs other than git may also delete or change
// something, because such changes are not sent.
func PushesToo(r *shellscan.Report, project string) bool {
	_, ok := pushes(r, project, func(p *shellscan.Part) bool {
		return slices.ContainsFunc(p.Effects, func(e floodmark.Effect) bool { return steers(e) && (e != floodmark.Change || isGit(p)) })
	})
	return ok
}

func pushes(r *shellscan.Report, project string, bends func(*shellscan.Part) bool) (branch string, ok bool) {
	if !r.Understood || project == "" || len(r.Names) > 0 || r.Has(shellscan.Environment) || !worksIn(r, project) {
		return "", false
	}
	found, made := false, ""
	for i := range r.Parts {
		p := &r.Parts[i]
		push := len(p.Words) > 1 && p.Words[0] == "git" && p.Words[1] == "push"
		switch {
		case push:
			name, plain := PlainPush(p.Words[2:])
			if name == made {
				name = ""
			}
			if !plain || found && name != branch {
				return "", false
			}
			branch, found = name, true
		case bends(p):
			return "", false
		case len(p.Words) == 4 && p.Words[0] == "git" && (p.Words[1] == "checkout" && p.Words[2] == "-b" || p.Words[1] == "switch" && p.Words[2] == "-c"):
			made = p.Words[3]
		}
	}
	return branch, found && keepsTree(r)
}

// keepsTree reports whether a line reaches no address and writes nothing before it pushes, except
// by formatting. Git may change the tree after the push, because that is not sent.
func keepsTree(r *shellscan.Report) bool {
	moved := false
	for i := range r.Effects {
		e := &r.Effects[i]
		switch {
		case e.URL != "", e.Kind == shellscan.Send && moved:
			return false
		case e.Kind != shellscan.Write:
		case e.Command == "git":
			moved = moved || e.Tree || r.Loops
		case !formats(e.Command):
			return false
		}
	}
	return !moved || !r.Loops
}

// worksIn reports whether all git commands of a line that run hooks, as a push does, work in the
// folder of the project.
func worksIn(r *shellscan.Report, project string) bool {
	found := false
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Kind != shellscan.Hook || e.Command != "git" {
			continue
		}
		if found = true; !strings.HasPrefix(e.Path+"/", path.Join(project, ".git/hooks")+"/") {
			return false
		}
	}
	return found
}

// PlainPush reports whether the words of a push name at most the remote origin and a branch, which
// gets the same name there. It returns the branch, if the words name one.
func PlainPush(words []string) (branch string, ok bool) {
	var operands []string
	for _, w := range words {
		switch {
		case slices.Contains([]string{"-q", "-u", "-v", "--quiet", "--set-upstream", "--verbose", "--porcelain", "--progress"}, w):
		case w == "" || w[0] == '-':
			return "", false
		default:
			operands = append(operands, w)
		}
	}
	if len(operands) > 2 || len(operands) > 0 && operands[0] != "origin" {
		return "", false
	}
	if len(operands) < 2 || operands[1] == "HEAD" {
		return "", true
	}
	branch = operands[1]
	return branch, strings.IndexFunc(branch, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._/-", c))
	}) < 0
}

// steers reports whether an effect may change what a push sends, or where.
func steers(e floodmark.Effect) bool {
	return e == floodmark.Send || e == floodmark.Admin || e == floodmark.Change
}

// formats reports whether a program is a formatter, which writes only what it read.
func formats(command string) bool {
	return slices.Contains([]string{"gofmt", "gofumpt", "goimports", "rustfmt", "clang-format"}, command)
}
