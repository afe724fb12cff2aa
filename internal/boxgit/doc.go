// Package boxgit says what a command in a box may do to the repository of its project. Of git's
// folder only history is kept: objects whose names are the hashes of their content, branches, new
// tags, the stash, the index, and HEAD's log. Everything else there is a setting, a program, or
// leads git elsewhere.
//
// A commit could carry files past the rules for the project's own: a later checkout writes them. So
// history is kept only if it brings no file that the project would not keep, unless the project has
// it already.
//
// Packs are not read, so none is kept; git makes none in a box unless it is told to.
package boxgit

import "strings"

// A Change is one thing that a command did to git's folder.
type Change struct {
	Path string // within git's folder
	From string // where a file that was written lies
	Is   Is
	// Stale says that what it replaces was changed since the command began.
	Stale bool
}

// Is is what a change leaves at its path.
type Is uint8

// What changes leave.
const (
	AFile Is = iota
	AFolder
	AFreshFolder // without what was in it before
	Gone
)

// A part of a repository is what a path in git's folder is for.
type part uint8

const (
	other   part = iota // never kept
	undone              // of something that git is in the middle of
	packed              // objects in a form that is not looked into
	way                 // a folder on the way to others
	object              // content by its hash
	ref                 // a branch, a tag or the stash
	head                // a file that names commits
	symbol              // HEAD
	message             // text for a commit
	index
	list // packed-refs
	log
	ended // what git was in the middle of, and has finished
)

func (c *Change) part() part {
	if c.Is == Gone && Ends(c.Path) {
		return ended
	}
	return partOf(c.Path, c.Is == AFolder || c.Is == AFreshFolder)
}

// Ends reports whether git finishes something by removing a path as a whole.
func Ends(p string) bool { return !strings.Contains(p, "/") && partOf(p, false) == undone }

// history reports whether a change is kept with all others or not at all.
func (c *Change) history() bool {
	kind := c.part()
	return kind >= ref || kind == way && c.Is == AFreshFolder && !strings.HasPrefix(c.Path+"/", "objects/")
}

// Refuses says by the name of a path in git's folder why it must not be written, if so.
func Refuses(p string, folder bool) string {
	switch partOf(p, folder) {
	case other:
		return "it is a setting of the repository, or leads git elsewhere"
	case undone:
		return "git would go on with it later: finish or abort it in one command"
	case packed:
		return "packs of objects are not kept: repack outside of the box"
	}
	return ""
}

func partOf(p string, folder bool) part {
	first, rest, _ := strings.Cut(p, "/")
	switch {
	case strings.HasSuffix(p, ".lock"):
		return other
	case first == "rebase-merge" || first == "rebase-apply" || first == "sequencer" || strings.HasPrefix(p, "BISECT_") || first == "reftable":
		return undone
	case first == "objects":
		return ofObjects(rest, folder)
	case first == "refs":
		return ofRefs(rest, folder)
	case first == "logs":
		if rest == "" || rest == "HEAD" || rest == "refs" {
			return either(folder && rest != "HEAD", log)
		}
		if name, ok := strings.CutPrefix(rest, "refs/"); ok && ofRefs(name, folder) != other {
			return either(folder, log)
		}
		return other
	case folder:
		return other
	}
	switch p {
	case "HEAD":
		return symbol
	case "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE":
		return head
	case "MERGE_MSG", "MERGE_MODE", "COMMIT_EDITMSG", "SQUASH_MSG":
		return message
	case "index":
		return index
	case "packed-refs":
		return list
	}
	return other
}

func either(folder bool, file part) part {
	if folder {
		return way
	}
	return file
}

func ofRefs(rest string, folder bool) part {
	kind, name, _ := strings.Cut(rest, "/")
	switch {
	case rest == "" && folder:
		return way
	case kind == "stash" && name == "" && !folder:
		return ref
	case kind == "heads" || kind == "tags":
		if name == "" && !folder {
			return other
		}
		return either(folder, ref)
	}
	return other
}

func ofObjects(rest string, folder bool) part {
	start, end, deep := strings.Cut(rest, "/")
	switch {
	case folder && (rest == "" || len(start) == 2 && isHex(start) && !deep):
		return way
	case start == "pack" && strings.HasSuffix(rest, ".pack"):
		return packed
	case !folder && len(start) == 2 && len(end) == idLength-2 && isHex(start+end):
		return object
	}
	return other
}

// idLength is that of an object's name. Repositories with longer ones are not known.
const idLength = 40

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" && text != "" }

func isID(text string) bool { return len(text) == idLength && isHex(text) }
