package artifact

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/project/checkout"
)

// A Disk says what is at a path. Its machine answers; the kernel writes down what
// it was told, so that no second look is needed.
type Disk interface {
	// Around returns the checkout a clean path is in.
	Around(path string) (Checkout, bool)
	// Revisions returns a checkout for each revision that words of git name at a path. It leaves
	// out the owner's own revisions and those that are part of the commit that is checked out.
	Revisions(path string, words []string) []Checkout
	// Resolve returns where a clean path leads once links are followed; what is
	// not there, or cannot be looked at, leads to itself.
	Resolve(path string) string
	// Links maps the path of each link in a folder, and of the folder if it is a link, to where it
	// leads. If deep is set, it includes links in the folders below. It is empty if the disk cannot
	// be read.
	Links(folder string, deep bool) map[string]string
	// Pushes returns a digest of everything that decides where a push from the checkout around a
	// path goes. It is zero if that is not known, or if another branch than the given one is known
	// to be checked out.
	Pushes(path, branch string) floodmark.Digest
	// Databases returns the hosts and ports of databases for which the owner of a home keeps a login there.
	Databases(home string) []string
	// Composes reports whether docker compose, in a folder, reads one file that names no other.
	Composes(folder string) bool
	// Secrets returns where secrets are kept.
	Secrets(s Search) Hoard
	// Repository returns two folders that git uses at a clean path: the one with its files, and the
	// one with the files that all working trees share. They are empty if not known.
	Repository(path string) (dir, common string)
	// Nested returns the folders below a folder that hold git's files themselves, and whether these
	// are all.
	Nested(folder string) (folders []string, all bool)
	// Starts returns the programs that git, at a clean path, runs without being told to: the given
	// hooks that exist («*» for any), as in [catalog.Use], and files of the working tree that git's
	// settings name.
	Starts(path string, hooks []string) []string
	// Content returns a digest of what is in a file; zero if it is not there or is no file.
	Content(path string) floodmark.Digest
	// Exactly returns the digest of what is in the one file at a path that catalog.FoldPath made,
	// however it is spelled; zero if there is none, a link, several, or a large one.
	Exactly(path string) floodmark.Digest
	// Head returns the commit that is checked out at a path; empty if it is not known.
	Head(path string) string
	// Missing reports whether nothing is at a path that catalog.FoldPath made, however it is
	// spelled. If the disk cannot be read, it reports false.
	Missing(path string) bool
}

// A Checkout is a working tree of a repository, as far as its files tell.
type Checkout = checkout.Checkout

// An Altered is what was found on the disk after a call.
type Altered struct {
	// Paths were changed since the call was let through.
	Paths []string
	// Whole says that all of the folder was looked at, so nothing else was changed.
	Whole bool
}
