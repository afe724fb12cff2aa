// Package boxgit decides which changes of a command in a box to its project's repository are kept.
// In git's folder only history may change: objects whose names are the hashes of their content,
// branches, new tags, the stash, the index, and HEAD's log. Everything else there is a setting, a
// program, or leads git elsewhere.
//
// A later checkout writes the files of a commit, so a commit could bypass the rules for the
// project's own files. So history is kept only if each file in it is one that the project would
// keep, or has already.
//
// Packs are not inspected, so none is kept. Git makes no pack in a box unless a command asks for
// it.
package boxgit

import "strings"

// A Change is one thing that a command did to git's folder.
type Change struct {
	Path string // within git's folder
	From string // where a file that was written is stored
	Is   Is
	// Stale says that the file it replaces was changed by others since the command began.
	Stale bool
}

// Is is what a change leaves at its path.
type Is uint8

// What changes leave.
const (
	AFile Is = iota
	AFolder
	AFreshFolder // a folder whose former content is gone
	Gone
)

// A part of a repository is what a path in git's folder is for.
type part uint8

const (
	other   part = iota // never kept
	undone              // state of an unfinished git command, such as a rebase
	packed              // objects in a form that is not inspected
	way                 // a folder of refs, logs or objects
	object              // content by its hash
	ref                 // a branch, a tag or the stash
	head                // a file that names commits
	symbol              // HEAD
	message             // text for a commit
	index
	list // packed-refs
	log
	ended // state of a git command that is finished now
)

func (c *Change) part() part {
	if c.Is == Gone && Ends(c.Path) {
		return ended
	}
	return partOf(c.Path, c.Is == AFolder || c.Is == AFreshFolder)
}

// Ends reports whether removing a path as a whole is how git finishes a command, such as a rebase.
func Ends(p string) bool { return !strings.Contains(p, "/") && partOf(p, false) == undone }

// history reports whether a change belongs to the history, which is kept as a whole or not at all.
func (c *Change) history() bool {
	kind := c.part()
	return kind >= ref || kind == way && c.Is == AFreshFolder && !strings.HasPrefix(c.Path+"/", "objects/")
}

// Refuses returns why a path in git's folder must not be written, judged by its name; empty if it
// may be.
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

// idLength is the length of an object's name. Repositories with longer names are not supported.
const idLength = 40

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" && text != "" }

func isID(text string) bool { return len(text) == idLength && isHex(text) }
