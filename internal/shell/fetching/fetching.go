// Package fetching says for what a command line needs a network.
package fetching

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
	"github.com/floodmark/floodmark/internal/text/address"
)

// Packages returns the names of the published packages that a line fetches, without versions. If a
// command has more words than are known, the list contains «…», which is never the name of a
// package.
func Packages(r *shellscan.Report) []string {
	var names []string
	for i := range r.Parts {
		p := &r.Parts[i]
		at := slices.IndexFunc(p.Entries, func(e *commandbook.Entry) bool { return e.Installs })
		if at < 0 {
			continue
		}
		e := p.Entries[at]
		if len(p.Words) >= shellscan.MaxPartWords {
			names = append(names, "…")
		}
		pip := slices.ContainsFunc(e.Words, func(w string) bool { return w == "pip" || w == "pip3" })
		names = append(names, fetched(p.Words[min(len(p.Words), len(e.Words)):], e.Words[0] == "go" && e.Words[1] == "run", pip)...)
	}
	return names
}

// Offline reports whether a command line may work without a network. Each command in it that
// fetches can also run what is installed, or talks only to this machine, and no address or word in
// the line points to another host.
func Offline(r *shellscan.Report, urls []string) bool {
	elsewhere := func(word string) bool { return strings.Contains(word, "://") && !onThisMachine(word) }
	return r.Understood && len(Packages(r)) == 0 && !slices.ContainsFunc(urls, func(u string) bool { return !onThisMachine(u) }) &&
		!slices.ContainsFunc(r.Parts, func(p shellscan.Part) bool {
			return slices.Contains(p.Effects, floodmark.Fetch) && !slices.Contains(p.Effects, floodmark.Run) && !slices.ContainsFunc(p.Words, onThisMachine) ||
				slices.ContainsFunc(p.Words, elsewhere)
		})
}

// onThisMachine reports whether a word is an address of this machine, which also works in a box.
// Without a scheme it must have a port.
func onThisMachine(word string) bool {
	host, _ := address.HostOf(word)
	for _, name := range []string{"127.0.0.1:", "localhost:"} {
		if at, ok := strings.CutPrefix(word, name); ok {
			port, _, _ := strings.Cut(at, "/")
			return port != "" && strings.Trim(port, "0123456789") == ""
		}
	}
	return strings.Contains(word, "://") && address.Loopback(host)
}

// fetched returns the names of packages among the words of one command. The value in an option can
// be a package or the registry that it comes from, so it counts as a name. For «go run», only the
// first operand can be a package, if it looks like a module; the following words go to the program.
func fetched(words []string, goRun, pip bool) []string {
	var names []string
	for i, w := range words {
		switch {
		case w == "" || pip && i > 0 && takesFile(words[i-1]) && !strings.Contains(w, ":"):
		case w[0] == '-':
			if value := glued(w); !goRun && strings.Trim(value, "0123456789.") != "" && value != "true" && value != "false" && !ownFile(value) {
				names = append(names, value)
			}
		case ownFile(w):
			if goRun {
				return names
			}
		case goRun:
			if host, _, ok := strings.Cut(w, "/"); ok && strings.Contains(host, ".") {
				names = append(names, plainPackage(w))
			}
			return names
		default:
			names = append(names, plainPackage(w))
		}
	}
	return names
}

// glued returns a value that is in the same word as its option: what follows «=» or, in a word with
// one «-», what follows the letter. It must look like an address, a path or a version.
func glued(option string) string {
	if _, value, ok := strings.Cut(option, "="); ok {
		return value
	}
	if short := strings.TrimPrefix(option, "-"); !strings.HasPrefix(short, "-") && len(short) > 1 && strings.ContainsAny(short, ":/.@") {
		return short[1:]
	}
	return ""
}

// ownFile reports whether a word is the path of a file on this machine.
func ownFile(word string) bool { return strings.ContainsAny(word[:1], "./~") }

// takesFile reports whether the value of an option of pip is a file or folder of the project. An
// address is none.
func takesFile(option string) bool {
	return slices.Contains([]string{"-r", "--requirement", "-c", "--constraint", "-e", "--editable"}, option)
}

// plainPackage returns the name of a package without its version. What follows the «@» is no version
// if it says where the package comes from.
func plainPackage(name string) string {
	if i := strings.LastIndexByte(name, '@'); i > 0 && !strings.ContainsAny(name[i:], ":/") {
		name = name[:i]
	}
	if i := strings.IndexAny(name, "=<>~!["); i > 0 {
		name = name[:i]
	}
	return name
}
