package lockfile

import (
	"path"
	"slices"
	"strings"
)

// An Install is a command line that uses the packages that a project has pinned.
type Install struct {
	Ecosystem Ecosystem
	// Locks are the lock files that the command may use, as paths within the project. It uses the
	// first that exists.
	Locks []string
	// Fetches says that the command only installs packages. Without it, the command only needs
	// them.
	Fetches bool
}

// Installs reads a command line, and reports whether it is an [Install]. The line must consist of
// plain words, so that nothing else is hidden behind the name of a package manager.
func Installs(line string) (Install, bool) {
	line = strings.TrimSpace(line)
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
		return Install{}, false
	}
	folder := "."
	if rest, ok := strings.CutPrefix(line, "cd "); ok {
		to, run, and := strings.Cut(rest, " && ")
		if !and || !inside(to) {
			return Install{}, false
		}
		folder, line = path.Clean(to), strings.TrimSpace(run)
	}
	words := strings.Fields(shown(line))
	if slices.ContainsFunc(words, func(w string) bool { return !only(w, "-._=/:,") }) {
		return Install{}, false
	}
	i, ok := installs(words)
	for n, lock := range i.Locks {
		i.Locks[n] = path.Join(folder, lock)
	}
	return i, ok
}

// inside reports whether a relative path stays in its folder.
func inside(p string) bool {
	return p != "" && only(p, "-._/") && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "-") && !slices.Contains(strings.Split(p, "/"), "..")
}

// shown returns a command line without a pipe and redirection that only affect how its output is
// shown.
func shown(line string) string {
	run, filter, piped := strings.Cut(line, "|")
	if words := strings.Fields(filter); piped && len(words) > 1 && (words[0] == "tail" || words[0] == "head") &&
		!slices.ContainsFunc(words[1:], func(w string) bool { return strings.Trim(w, "-n0123456789") != "" }) {
		line = run
	}
	return strings.TrimSuffix(strings.TrimSpace(line), "2>&1")
}

func installs(words []string) (Install, bool) {
	if len(words) > 3 && (words[0] == "python" || words[0] == "python3") && words[1] == "-m" {
		words = words[2:]
	}
	if len(words) < 2 {
		return Install{}, false
	}
	rest := words[2:]
	switch name := words[0]; {
	case name == "npm" && slices.Contains([]string{"ci", "install", "i"}, words[1]) && onlyOptions(rest, npmOptions()):
		return Install{Npm, []string{"npm-shrinkwrap.json", "package-lock.json"}, true}, true
	case name == "go" && words[1] == "mod" && len(rest) > 0 && rest[0] == "download" && onlyOptions(rest[1:], []string{"-x"}):
		return Install{Go, []string{"go.sum"}, true}, true
	case name == "go" && slices.Contains([]string{"build", "test", "vet", "run", "list", "generate"}, words[1]):
		return Install{Go, []string{"go.sum"}, false}, true
	case (path.Base(name) == "pip" || path.Base(name) == "pip3") && words[1] == "install":
		file, ok := requirements(rest)
		return Install{PyPI, []string{file}, true}, ok
	}
	return Install{}, false
}

func onlyOptions(words, known []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(known, w) })
}

func npmOptions() []string {
	return []string{
		"--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--quiet", "--loglevel=error", "--prefer-offline",
		"--legacy-peer-deps", "--omit=dev", "--include=dev", "--omit=optional", "--no-progress",
	}
}

// requirements returns the single file that a pip command installs from.
func requirements(words []string) (file string, ok bool) {
	for n := 0; n < len(words); n++ {
		switch w := words[n]; {
		case (w == "-r" || w == "--requirement") && n+1 < len(words) && file == "" && inside(words[n+1]) && strings.HasSuffix(words[n+1], ".txt"):
			file, n = path.Clean(words[n+1]), n+1
		case (w == "-t" || w == "--target") && n+1 < len(words) && inside(words[n+1]):
			n++
		case slices.Contains([]string{"-q", "--quiet", "--require-hashes", "--no-deps", "--no-cache-dir", "--no-input", "--disable-pip-version-check"}, w):
		default:
			return "", false
		}
	}
	return file, file != ""
}
