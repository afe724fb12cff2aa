package catalog

import (
	"slices"
	"strings"
)

// isWriter reports a command that writes files it names.
func isWriter(name string) bool {
	return oneOf(name, "tee", "sed", "gsed", "perl", "ruby", "awk", "gawk", "cp", "mv", "install", "ln", "link", "dd", "rsync", "scp", "rm",
		"unlink", "shred", "truncate", "touch", "chmod", "chown", "sponge", "git", "rename", "ditto", "robocopy", "xcopy") ||
		isUnpacker(name) || downloads(name)
}

// isUnpacker reports a command that takes files out of others.
func isUnpacker(name string) bool {
	return oneOf(name, "tar", "bsdtar", "gtar", "unzip", "7z", "7za", "7zz", "unrar", "unar", "cpio", "gunzip", "gzip", "bunzip2", "bzip2",
		"xz", "unxz", "zstd", "unzstd")
}

// downloads reports a command that saves what it fetches.
func downloads(name string) bool {
	return oneOf(name, "curl", "wget", "wget2", "aria2c", "axel", "http", "https", "xh", "iwr", "irm", "invoke-webrequest", "invoke-restmethod",
		"start-bitstransfer", "certutil")
}

// words of a command, sorted by what they do to its targets.
type written struct {
	plain   []string // neither options nor their values
	named   []string // what options name as output
	into    string   // the folder an option names
	inPlace bool
}

// targets are the files a command writes: by redirection, or because that is
// what the command is for. Folder says of a name whether it is known for one.
func (p *part) targets(folder func(string) bool) []string {
	name := p.name()
	if !isWriter(name) {
		return p.writes
	}
	w := p.sorted(name)
	out := append(slices.Clip(p.writes), w.named...)
	switch {
	case name == "dd":
		return out
	case oneOf(name, "sed", "gsed", "perl", "ruby", "awk", "gawk"):
		if !w.inPlace {
			return out
		}
		return append(out, w.plain...)
	case oneOf(name, "cp", "install", "ln", "link", "rsync", "scp", "ditto", "robocopy", "xcopy"):
		return append(out, copied(w.plain, w.into, folder)...)
	case oneOf(name, "mv", "rename"):
		return append(append(out, w.plain...), copied(w.plain, w.into, folder)...)
	case name == "git":
		return append(out, checkedOut(w.plain, folder)...)
	case downloads(name):
		return append(out, saved(w, p.savesByAddress(name))...)
	case isUnpacker(name):
		return append(out, unpacked(w)...)
	}
	return append(out, w.plain...)
}

// folders are the places where a command may put a whole folder, with names
// nobody sees: by moving one, or copying everything in it.
func (p *part) folders(folder func(string) bool) []string {
	name := p.name()
	var w written
	switch {
	case oneOf(name, "mv", "cp", "rsync", "scp", "ditto", "robocopy", "xcopy", "ln"):
		w = p.sorted(name)
	case name == "git":
		if w = p.sorted(name); len(w.plain) == 0 || !oneOf(w.plain[0], "mv", "clone") {
			return nil
		}
		if w.plain[0] == "clone" {
			return w.plain[1:]
		}
		w.plain = w.plain[1:]
	default:
		return nil
	}
	isFile := func(n string) bool { return strings.LastIndexByte(lastPart(n), '.') > 0 }
	if name == "cp" && !p.recursive() || len(w.plain) > 0 && !slices.ContainsFunc(w.plain[:max(1, len(w.plain)-1)], func(n string) bool { return !isFile(n) }) {
		return nil
	}
	return copied(w.plain, w.into, folder)
}

// recursive reports an option that copies folders.
func (p *part) recursive() bool {
	return slices.ContainsFunc(p.words, func(w string) bool {
		return oneOf(w, "--recursive", "--archive") || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "rRa")
	})
}

// sorted takes the words of a writing command apart.
func (p *part) sorted(name string) written {
	var w written
	for i, word := range p.words[1:] {
		next := p.after(i + 1)
		option, value, joined := strings.Cut(word, "=")
		switch {
		case option == "of" && joined:
			w.named = append(w.named, value)
		case !strings.HasPrefix(word, "-"):
			w.plain = append(w.plain, word)
		case namesFolder(name, option):
			if w.into = next; joined {
				w.into = value
			}
		case namesOutput(name, option):
			if !joined {
				value = next
			}
			w.named = append(w.named, value)
		default:
			w.short(name, word, next)
			w.inPlace = w.inPlace || option == "--in-place" || !strings.HasPrefix(word, "--") && strings.Contains(word, "i")
		}
	}
	return w
}

// short looks into letters that stand together: -sSLo x, -Ctarget, -ofile.
func (w *written) short(name, word, next string) {
	if strings.HasPrefix(word, "--") {
		return
	}
	for i := 1; i < len(word); i++ {
		rest := word[i+1:]
		if rest == "" {
			rest = next
		}
		switch letter := "-" + word[i:i+1]; {
		case namesFolder(name, letter):
			w.into = rest
		case namesOutput(name, letter):
			w.named = append(w.named, rest)
		}
	}
}

// namesFolder reports an option whose value is the folder to write to.
func namesFolder(command, option string) bool {
	switch {
	case oneOf(option, "--target-directory", "--directory", "--output-dir", "--directory-prefix", "--dir"):
		return true
	case oneOf(command, "cp", "mv", "install", "ln"):
		return option == "-t"
	case oneOf(command, "tar", "bsdtar", "gtar"):
		return option == "-C"
	case oneOf(command, "unzip", "aria2c"):
		return option == "-d"
	case oneOf(command, "wget", "wget2"):
		return option == "-P"
	}
	return false
}

// namesOutput reports an option whose value is the file to write.
func namesOutput(command, option string) bool {
	switch {
	case !downloads(command):
		return false
	case oneOf(strings.ToLower(option), "--output", "--output-document", "--out", "--download", "-outfile", "-destination", "--dump-header", "--cookie-jar",
		"--trace", "--trace-ascii", "--stderr", "--etag-save", "--hsts", "--alt-svc", "--libcurl", "--output-file", "--append-output", "--save-cookies"):
		return true
	case command == "curl":
		return oneOf(option, "-o", "-D", "-c")
	case oneOf(command, "wget", "wget2"):
		return oneOf(option, "-O", "-o", "-a")
	}
	return option == "-o"
}

// savesByAddress reports a download whose file is called as its address ends.
func (p *part) savesByAddress(name string) bool {
	switch name {
	case "curl":
		return slices.ContainsFunc(p.words, func(w string) bool {
			return strings.HasPrefix(w, "--remote-") || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "OJ")
		})
	case "http", "https", "xh":
		return slices.Contains(p.words, "--download") || slices.Contains(p.words, "-d")
	case "wget", "wget2":
		return !slices.ContainsFunc(p.words, func(w string) bool {
			return strings.HasPrefix(w, "--output-document") || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, "O")
		})
	case "aria2c", "axel":
		return true
	}
	return false
}

// saved are the files a download may leave: those that are named and, if so,
// the last part of every address, in the folder that is named.
func saved(w written, byAddress bool) []string {
	var out []string
	for _, word := range w.plain {
		if len(out) > maxTargets || !byAddress {
			break
		}
		if i := strings.IndexAny(word, "?#"); i >= 0 {
			word = word[:i]
		}
		out = append(out, inFolder(w.into, lastPart(word)))
	}
	for _, n := range w.named {
		if w.into != "" && len(out) <= maxTargets {
			out = append(out, inFolder(w.into, n))
		}
	}
	return out
}

// unpacked are the files whose names are known beforehand: those that are
// named, in the folder that is named, and without the ending of a packed one.
func unpacked(w written) []string {
	out := []string{w.into}
	for _, word := range w.plain {
		if len(out) > maxTargets {
			break
		}
		out = append(out, inFolder(w.into, word))
		if i := strings.LastIndexByte(word, '.'); i > 0 {
			out = append(out, word[:i])
		}
	}
	return out
}

// checkedOut are the files git is told to move or to put somewhere.
func checkedOut(words []string, folder func(string) bool) []string {
	if len(words) == 0 {
		return nil
	}
	switch words[0] {
	case "mv":
		return append(slices.Clone(words[1:]), copied(words[1:], "", folder)...)
	case "clone", "init", "rm", "restore", "checkout":
		return words[1:]
	}
	return nil
}

// copied are the files that appear when names are copied: to the last of
// them, or into it if it is a folder. One name and a target that looks like a
// file are taken for what they look like.
func copied(names []string, into string, folder func(string) bool) []string {
	if into == "" {
		if len(names) < 2 {
			return nil
		}
		names, into = names[:len(names)-1], names[len(names)-1]
		if last := lastPart(into); len(names) == 1 && strings.LastIndexByte(last, '.') > 0 && last != ".." && !folder(into) {
			return []string{into}
		}
	}
	out := []string{into}
	for _, n := range names {
		if len(out) > maxTargets {
			break
		}
		out = append(out, inFolder(into, lastPart(n)))
	}
	return out
}

// inFolder is the path of a name in a folder; no path is as long as some
// folders claim to be.
func inFolder(folder, name string) string {
	if folder == "" || len(folder) > MaxPathBytes {
		return name
	}
	return folder + "/" + name
}

func lastPart(name string) string {
	name = strings.TrimRight(name, `/\`)
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	return name[strings.LastIndexByte(name, ':')+1:] // host:file
}
