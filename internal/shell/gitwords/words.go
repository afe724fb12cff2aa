// Package gitwords finds the words of a command line that may name a git revision, and what its
// pushes send. It does not look into the repository.
package gitwords

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// All means every revision that has a name in the repository.
const All = "*"

// TagItself is the suffix of a word that means a tag itself, and not the commit it names.
const TagItself = "^{tag}"

// maxWords bounds the words of a line. A line with more is treated as naming every revision.
const maxWords = 256

// Revisions are the words of a line's git commands that may name a revision. Moves says that
// whatever the commands bring into the tree is afterwards part of the checked out commit.
type Revisions struct {
	Words []string
	Moves bool
}

// Of returns the revisions of a line.
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
			v.Words = append(v.Words, sub) // git uses the stash even if no word names it
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

// With returns the revisions of two lines together.
func (v Revisions) With(w Revisions) Revisions {
	if len(v.Words) == 0 {
		return w
	}
	return Revisions{Words: slices.Concat(v.Words, w.Words), Moves: v.Moves && w.Moves}
}

// redirects reports whether the shell writes what a command prints.
func redirects(r *shellscan.Report) bool {
	return slices.ContainsFunc(r.Effects, func(e shellscan.Effect) bool { return e.Kind == shellscan.Write && e.Command == "" })
}

func isGit(p *shellscan.Part) bool {
	return len(p.Words) > 0 && named(p.Words[0])
}

func named(word string) bool {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe") == "git"
}

// split returns the subcommand of a git command and the words after it.
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

// operands returns the words that may name a revision, including values of options, but without
// commit messages.
func operands(args []string) (list []string) {
	for i, w := range args {
		if i > 0 && (args[i-1] == "-m" || args[i-1] == "--message") {
			continue
		}
		switch name, value, joined := strings.Cut(w, "="); {
		case strings.HasPrefix(w, "*"): // files, or the output of another git command, whose words are examined there
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

// implied returns revisions that a command uses although its words do not name them in full: «-» is
// the previous branch, a merge without operands uses the upstream, and show also prints the message
// of a tag. Revisions that are part of the checked out commit afterwards are left out.
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

// all reports whether an option makes a command that only reads show more revisions than it names.
// For a command that lists names, it reports whether the list also shows messages.
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

// lists reports whether a subcommand lists names. A name is not the content of a revision.
func lists(sub string) bool {
	return sub == "branch" || sub == "tag" || sub == "for-each-ref" || sub == "show-ref"
}

// moves reports whether all that a command brings into the tree is afterwards part of the checked
// out commit, or of a merge in progress. These are examined whenever something is run.
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

// guessed returns the revisions of a line that was not understood. Each word after «git» may name
// one.
func guessed(text string) (v Revisions) {
	open := strings.ContainsAny(text, "$`*") || strings.Contains(text, "xargs") // some words are unknown
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
