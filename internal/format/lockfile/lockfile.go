// Package lockfile reads the names, versions and hashes of the packages that a project has pinned,
// from the files that package managers write. Such a file may come from a stranger. Entries that
// are not exact are left out and counted, and addresses in the file are never used.
package lockfile

import (
	"errors"
	"slices"
	"strings"
)

// An Ecosystem is a registry for packages of one kind.
type Ecosystem string

// The ecosystems that are known.
const (
	Go   Ecosystem = "go"
	Npm  Ecosystem = "npm"
	PyPI Ecosystem = "pypi"
)

// A Package is one pinned package. In Go, a version that ends in [GoMod] means only the file
// go.mod. In PyPI, a version with several hashes is listed as one Package for each hash.
type Package struct {
	Ecosystem     Ecosystem
	Name, Version string
	// Hash is written as in the lock file: «h1:…», «sha512-…» or «sha256:…».
	Hash string
}

// GoMod is the end of the version of a module of which only the file go.mod is pinned.
const GoMod = "/go.mod"

// A List holds the packages that one file pins, in order and each once.
type List struct {
	Packages []Package
	// LeftOut counts the entries of the file that are not in the list.
	LeftOut int
}

// A Host is the machine on which packages are to be installed, in the words of npm.
type Host struct {
	OS, CPU, Libc string
	// Registry is the address of a registry that npm packages may be pinned to, besides the public
	// one.
	Registry string
}

// The limits of a file.
const (
	MaxBytes    = 16 << 20
	MaxPackages = 20_000

	maxName    = 214
	maxVersion = 128
)

var (
	errTooLong = errors.New("the lock file is too long")
	errTooMany = errors.New("the lock file pins too many packages")
)

// Known reports whether a lock file with this name can be read, and returns its ecosystem.
func Known(name string) (Ecosystem, bool) {
	switch {
	case name == "go.sum":
		return Go, true
	case name == "package-lock.json" || name == "npm-shrinkwrap.json":
		return Npm, true
	case strings.HasSuffix(name, ".txt"):
		return PyPI, true
	}
	return "", false
}

// Read reads a lock file.
func Read(e Ecosystem, data []byte, h Host) (List, error) {
	if len(data) > MaxBytes {
		return List{}, errTooLong
	}
	var l List
	var err error
	switch e {
	case Go:
		l = readGo(string(data))
	case Npm:
		l, err = readNpm(data, h)
	case PyPI:
		l = readPip(string(data))
	default:
		err = errors.New("no such lock file is known")
	}
	if err != nil {
		return List{}, err
	}
	slices.SortFunc(l.Packages, compare)
	l.Packages = slices.Compact(l.Packages)
	if len(l.Packages) > MaxPackages {
		return List{}, errTooMany
	}
	return l, nil
}

func compare(a, b Package) int {
	for _, pair := range [][2]string{{string(a.Ecosystem), string(b.Ecosystem)}, {a.Name, b.Name}, {a.Version, b.Version}, {a.Hash, b.Hash}} {
		if c := strings.Compare(pair[0], pair[1]); c != 0 {
			return c
		}
	}
	return 0
}

// only reports whether a text consists of letters, digits and the given signs.
func only(text, signs string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') && !strings.ContainsRune(signs, r)
	})
}

// alnum reports whether a text begins and ends with a letter or digit.
func alnum(text string) bool {
	return text != "" && only(text[:1], "") && only(text[len(text)-1:], "")
}
