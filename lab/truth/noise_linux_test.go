package truth

import (
	"path/filepath"
	"slices"
	"strings"
)

// under reports whether a path is one of the folders or below.
func under(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

// writable reports whether a path is where the line's owner may write, so that
// a program there is not the machine's.
func writable(path string) bool { return under(path, home, "/tmp", "/dev/shm", "/var/tmp") }

// noise reports what every program does for itself: loading its libraries,
// asking for the time zone, writing to a terminal.
func noise(k kind, path string, p *process) bool {
	switch {
	case path == "" || path == "/" && k != deletes:
		return true
	case under(path, "/dev/shm"):
		return strings.HasPrefix(filepath.Base(path), "pym-") // Python's own, between its processes
	case strings.HasPrefix(path, "pipe:") || strings.HasPrefix(path, "socket:"):
		return true
	case under(path, "/dev"):
		return !strings.HasPrefix(path, "/dev/sd") && !strings.HasPrefix(path, "/dev/vd")
	case under(path, "/proc"):
		if program := filepath.Base(p.exe); program == "ps" || program == "pgrep" || program == "pkill" || program == "top" || program == "killall" || program == "w" {
			return true // it looks at more than it shows
		}
		return k != writes && k != deletes && !secret(path) || strings.HasPrefix(path, "/proc/self/") && !secret(path)
	case k == reads && isFolder(path):
		return true // listing shows names, no content
	case k == reads && !writable(path):
		return !secret(path)
	}
	return ownState(k, path, p)
}

// ownState reports files a program keeps for itself, whatever it is asked:
// settings it reads at each start, logs and caches of its own.
func ownState(k kind, path string, p *process) bool {
	program := filepath.Base(p.exe)
	if len(p.argv) > 0 && (program == "node" || program == "env") {
		program = filepath.Base(p.argv[min(1, len(p.argv)-1)])
	}
	if strings.HasPrefix(program, "git-") {
		program = "git"
		if k == reads && path == home+"/.netrc" {
			return true
		}
	}
	name, inHome := strings.CutPrefix(path, home+"/")
	if !inHome {
		return false
	}
	switch program {
	case "bash", "sh", "dash", "rbash":
		return k == reads && (name == ".profile" || name == ".bashrc" || name == ".bash_profile" || name == ".bash_login" || name == ".bash_logout" || name == ".inputrc" || name == ".bash_history")
	case "git":
		return k == reads && (name == ".gitconfig" || strings.HasPrefix(name, ".config/git/") || strings.Contains(name, ".git/") ||
			strings.HasSuffix(name, "/.gitignore") || strings.HasSuffix(name, "/.gitattributes"))
	case "npm", "npx", "npm-cli.js", "npx-cli.js", "node", "corepack":
		return under(name, ".npm", ".npmrc", ".gitconfig", "project/.npmrc", ".config/configstore", ".cache") || k == reads && strings.HasSuffix(name, "package.json")
	case "ssh", "scp", "sftp", "ssh-keyscan", "ssh-copy-id", "ssh-add":
		return k == reads && under(name, ".ssh")
	case "curl":
		return k == reads && name == ".curlrc"
	case "wget":
		return name == ".wget-hsts" || name == ".wgetrc" || name == ".netrc"
	case "go", "gofmt":
		return under(name, "go", ".cache", ".config/go") || k == reads && (strings.HasSuffix(name, "/go.mod") || strings.HasSuffix(name, "/go.sum"))
	case "kubectl", "helm":
		return under(name, ".kube")
	case "docker":
		return under(name, ".docker")
	case "gcloud", "gsutil", "python3", "python3.11":
		return under(name, ".config/gcloud", ".gsutil", ".boto")
	case "vim", "vi", "vim.basic", "view", "ex":
		return strings.HasPrefix(name, ".vim") || strings.HasSuffix(name, ".swp") || strings.HasSuffix(name, ".swpx")
	case "gpg", "gpg-agent":
		return under(name, ".gnupg")
	case "less", "pager":
		return name == ".lesshst" || name == ".lesskey"
	case "psql", "sqlite3":
		return strings.HasSuffix(name, "rc") || strings.HasSuffix(name, "_history")
	}
	return false
}

// inRepository folds what git keeps in its own folder: objects, the index, refs
// are one thing. Hooks and settings are not: they run, or say what does.
func inRepository(path string, k kind, p *process) (string, kind) {
	before, inside, ok := strings.Cut(path, "/.git/")
	if !ok || filepath.Base(p.exe) != "git" || under(inside, "hooks", "config") {
		return path, k
	}
	if k == deletes {
		k = writes
	}
	return before + "/.git", k
}

// secret reports a path that holds credentials.
func secret(path string) bool {
	switch {
	case path == "/etc/shadow" || path == "/etc/gshadow":
		return true
	case strings.HasPrefix(path, "/proc/") && (strings.HasSuffix(path, "/environ") || strings.HasSuffix(path, "/mem")):
		return true
	}
	name, ok := strings.CutPrefix(path, home+"/")
	if !ok {
		return false
	}
	if _, known := secrets()[name]; known {
		return name != ".ssh/config" && name != ".ssh/known_hosts" && name != ".aws/config" && name != ".bash_history" && name != ".ssh/authorized_keys"
	}
	return false
}

// isFolder reports whether a path was a folder before the line.
func isFolder(path string) bool {
	if path == home {
		return true
	}
	name, ok := strings.CutPrefix(path, home+"/")
	if !ok {
		return path == "/tmp"
	}
	for file := range template() {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return name == "project/empty" || strings.HasPrefix(name, "project/.git") && !strings.Contains(filepath.Base(name), ".")
}

// inTemplate reports whether a path was there before the line.
func inTemplate(path string) bool {
	name, ok := strings.CutPrefix(path, home+"/")
	if !ok {
		return false
	}
	_, known := template()[name]
	return known
}

// interpreter reports a program that does whatever the text it is given says.
// Shells are not among them: what a shell does is seen call by call.
func interpreter(path string) bool {
	name := strings.TrimRight(filepath.Base(path), "0123456789.")
	return slices.Contains([]string{"python", "perl", "node", "nodejs", "ruby", "php", "lua", "tclsh", "wish", "expect", "gdb", "jshell", "java", "osascript"}, name)
}

// codeGiven reports whether an interpreter was started with something to do.
func codeGiven(argv []string) bool {
	if len(argv) < 2 {
		return true // it reads its code
	}
	if strings.HasPrefix(argv[1], "/usr/") {
		return false // a program of the machine that is written in this language
	}
	return !slices.Contains([]string{"--version", "-V", "-v", "--help", "-h", "-version", "-VV"}, argv[1])
}
