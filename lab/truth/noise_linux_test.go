package truth

import (
	"path/filepath"
	"slices"
	"strings"
)

// under reports whether a path is one of the folders or inside one.
func under(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

// writable reports whether the user of the line may write to a path, so that a program there does
// not belong to the machine.
func writable(path string) bool { return under(path, home, "/tmp", "/dev/shm", "/var/tmp") }

// noise reports whether an effect is one that any program may have whatever its task is, such as
// loading libraries, reading the time zone or writing to a terminal.
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
			return true // the program reads more than it prints
		}
		return k != writes && k != deletes && !secret(path) || strings.HasPrefix(path, "/proc/self/") && !secret(path)
	case k == reads && isFolder(path):
		return true // listing a folder shows names and no content
	case k == reads && !writable(path):
		return !secret(path)
	}
	return ownState(k, path, p)
}

// ownState reports whether an effect is on a file that the program uses whatever its task is:
// settings that it reads at each start, and its own logs and caches.
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

// inRepository replaces the path of git's own files in .git, such as objects, the index and refs,
// by that of the folder .git, and a removal by a write. It leaves hooks and settings as they are,
// because they run or say what is run.
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

// secret reports whether a file contains credentials.
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

// isFolder reports whether a path was a folder before the line ran.
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

// inTemplate reports whether a file was there before the line ran.
func inTemplate(path string) bool {
	name, ok := strings.CutPrefix(path, home+"/")
	if !ok {
		return false
	}
	_, known := template()[name]
	return known
}

// interpreter reports whether a program runs the code that it is given. It returns false for
// shells, because the trace shows what a shell does.
func interpreter(path string) bool {
	name := strings.TrimRight(filepath.Base(path), "0123456789.")
	return slices.Contains([]string{"python", "perl", "node", "nodejs", "ruby", "php", "lua", "tclsh", "wish", "expect", "gdb", "jshell", "java", "osascript"}, name)
}

// codeGiven reports whether an interpreter was started with code to run.
func codeGiven(argv []string) bool {
	if len(argv) < 2 {
		return true // without arguments it reads its code from standard input
	}
	if strings.HasPrefix(argv[1], "/usr/") {
		return false // a program of the machine that is written in the interpreter's language
	}
	return !slices.Contains([]string{"--version", "-V", "-v", "--help", "-h", "-version", "-VV"}, argv[1])
}
