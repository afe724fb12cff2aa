// Package gitwords finds the words of a command line by which git may be told a
// revision, and what its pushes send. It says nothing about what they name, which
// takes a look at the repository.
package gitwords

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// All stands for every revision that a repository has a name for.
const All = "*"

// TagItself ends a word that stands for a tag, and not for what it is put on.
const TagItself = "^{tag}"

// maxWords bounds the words of a line; more of them may name anything.
const maxWords = 256

// Revisions are what the git commands of a line may be told as a revision. Moves says that
// afterwards the commit that is checked out shows what they have brought into the tree.
type Revisions struct {
	Words []string
	Moves bool
}

// Of looks through a line.
func Of(r *shellscan.Report, text string) Revisions {
	if !r.Understood {
		return guessed(text)
	}
	v := Revisions{Moves: len(r.Parts) > 0}
	given := slices.ContainsFunc(r.Parts, func(p shellscan.Part) bool {
		return isGit(&p) && slices.ContainsFunc(p.Words, func(w string) bool { return strings.HasPrefix(w, "*") })
	})
	for i := range r.Parts {
		p := &r.Parts[i]
		if !isGit(p) {
			v.Moves = false
			continue
		}
		sub, args := split(p)
		observes := !slices.ContainsFunc(p.Effects, func(e floodmark.Effect) bool { return e != floodmark.Observe })
		v.Moves = v.Moves && (observes || moves(sub, args))
		named := operands(args)
		v.Words = append(append(v.Words, named...), implied(sub, args, named)...)
		if sub == "stash" && len(args) > 0 && args[0] != "push" && args[0] != "list" {
			v.Words = append(v.Words, sub) // it need not be named
		}
		if len(p.Words) >= shellscan.MaxPartWords || observes && all(sub, args) || given && lists(sub) {
			v.Words = append(v.Words, All)
		}
	}
	if redirects(r) {
		v.Moves = false
	}
	if len(v.Words) > maxWords {
		v.Words = []string{All}
	}
	return v
}

// With are those of two lines.
func (v Revisions) With(w Revisions) Revisions {
	if len(v.Words) == 0 {
		return w
	}
	return Revisions{Words: slices.Concat(v.Words, w.Words), Moves: v.Moves && w.Moves}
}

// redirects reports that the shell writes what a command prints.
func redirects(r *shellscan.Report) bool {
	return slices.ContainsFunc(r.Effects, func(e shellscan.Effect) bool { return e.Kind == shellscan.Write && e.Command == "" })
}

func isGit(p *shellscan.Part) bool {
	return len(p.Words) > 0 && named(p.Words[0])
}

func named(word string) bool {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe") == "git"
}

// split finds the subcommand of a command of git's, and what comes after it.
func split(p *shellscan.Part) (sub string, args []string) {
	args = p.Words[1:]
	if len(p.Entries) == 0 || len(p.Entries[0].Words) < 2 {
		return "", args
	}
	words := p.Entries[0].Words[1:]
	if i := slices.Index(args, words[0]); i >= 0 {
		return words[0], args[i+1:]
	}
	return words[0], args
}

// operands are the words that may name a revision, values of options among them. A message
// is none.
func operands(args []string) (list []string) {
	for i, w := range args {
		if i > 0 && (args[i-1] == "-m" || args[i-1] == "--message") {
			continue
		}
		switch name, value, joined := strings.Cut(w, "="); {
		case strings.HasPrefix(w, "*"): // what another git of the line names, which is looked at there, or files
			if _, rest, ok := strings.Cut(w, ".."); ok {
				list = append(list, ".."+rest)
			}
		case !strings.HasPrefix(w, "-"):
			list = append(list, w)
		case joined && name != "--message":
			list = append(list, value)
		case !strings.HasPrefix(w, "--") && len(w) > 2:
			list = append(list, w[2:]) // -Cname
		}
	}
	return list
}

// implied are revisions that a command takes without their whole name: «-» is the branch of
// before, a merge that names nothing takes the upstream, and of a tag what it says is shown.
// Where the commit that is checked out shows it afterwards, nothing has to be said.
func implied(sub string, args, named []string) (list []string) {
	switch sub {
	case "checkout", "switch", "merge", "rebase", "cherry-pick", "revert":
		shown := moves(sub, args)
		if slices.Contains(args, "-") && !(shown && (sub == "checkout" || sub == "switch")) {
			list = append(list, "@{-1}")
		}
		if sub == "merge" && len(named) == 0 && !shown {
			list = append(list, "@{u}")
		}
	case "show", "cat-file", "verify-tag":
		for _, w := range named {
			if !strings.ContainsAny(w, ":^~*") {
				list = append(list, w+TagItself)
			}
		}
	}
	return list
}

// all reports options by which a command that only reads takes in more revisions than it
// names, and lists of names that show what was written beside them.
func all(sub string, args []string) bool {
	return slices.ContainsFunc(args, func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		if lists(sub) {
			return name == "--format" || name == "--verbose" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "vn")
		}
		switch name {
		case "--all", "--remotes", "--branches", "--tags", "--glob", "--reflog", "--walk-reflogs", "-g", "--stdin", "--batch", "--batch-check", "--alternate-refs":
			return true
		}
		return false
	}) || sub == "show-branch"
}

// lists reports a command that lists names. A name is not what lies in a revision.
func lists(sub string) bool {
	return sub == "branch" || sub == "tag" || sub == "for-each-ref" || sub == "show-ref"
}

// moves reports a command after which the commit that is checked out, or a merge that is
// under way, shows what it brought: that is looked at whenever something is run.
func moves(sub string, args []string) bool {
	plain := 0
	for _, w := range args {
		switch {
		case w == "--" || w == "--no-commit" || w == "--squash" || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.ContainsAny(w, "np"):
			return false
		case w == "-" || !strings.HasPrefix(w, "-"):
			plain++
		}
	}
	switch sub {
	case "checkout":
		return plain < 2 || plain < 4 && slices.ContainsFunc(args, func(w string) bool { return w == "-b" || w == "-B" })
	case "switch", "merge", "rebase", "cherry-pick", "commit", "fetch", "pull", "branch", "tag", "add", "push", "worktree":
		return true
	case "reset":
		return slices.Contains(args, "--hard")
	}
	return false
}

// guessed looks through a line that was not understood: each word may be one of git's.
func guessed(text string) (v Revisions) {
	open := strings.ContainsAny(text, "$`*") || strings.Contains(text, "xargs") // some words are not known
	for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";|&\n\r(){}`$", r) }) {
		words := strings.FieldsFunc(piece, func(r rune) bool { return strings.ContainsRune(" \t\"'<>,\\[]", r) })
		at := slices.IndexFunc(words, named)
		if at < 0 {
			continue
		}
		if words = words[at+1:]; open || len(v.Words)+len(words) > maxWords || all("", words) && !slices.Contains(words, "add") && !slices.Contains(words, "commit") {
			return Revisions{Words: []string{All}}
		}
		v.Words = append(v.Words, operands(words)...)
	}
	return v
}
