package knownnames

import (
	_ "embed" // the list of programs
	"path"
	"slices"
	"strings"
)

// programs lists the programs we know, with a kind and a name in each line. Lines of the kind
// «input» have a word of a program's text instead of a name.
//
//go:embed programs.txt
var programs string

// listedProgram reports whether the list contains a program with a kind.
func listedProgram(kind, name string) bool {
	return !strings.Contains(name, "\n") && strings.Contains(programs, "\n"+kind+" "+name+"\n")
}

// Interprets reports whether a program runs code that it is given, in a language of its own.
func Interprets(name string) bool {
	return listedProgram("interprets", strings.TrimRight(name, "0123456789."))
}

// WritesFiles reports whether a program writes, deletes or changes files that its words name.
func WritesFiles(name string) bool { return Brings(name) || listedProgram("writes", name) }

// Brings reports whether a program prints or saves network data.
func Brings(name string) bool { return listedProgram("fetches", name) }

// RunsByOption reports whether a program can be made to run others by an option, so that a file
// name that looks like an option could do harm.
func RunsByOption(name string) bool { return listedProgram("options", name) }

// SystemProgram returns the name of a program in a system folder, and "" for another path.
func SystemProgram(name string) string {
	dir, base := path.Split(name)
	switch dir {
	case "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/":
		return base
	}
	return ""
}

// StartsUnseen reports whether a program starts other programs that its entry does not follow.
func StartsUnseen(name string) bool { return listedProgram("unseen", name) }

// OldShell reports whether a shell lacks bash's quotes and braces.
func OldShell(name string) bool {
	return name == "sh" || name == "dash" || name == "ash" || name == "ksh"
}

// LookupWord reports whether a word of a look-up command is a record type and not an address.
func LookupWord(name, word string) bool {
	return slices.Contains([]string{"ping", "ping6", "traceroute", "tracepath", "dig", "nslookup", "host", "whois", "mtr"}, name) &&
		slices.Contains([]string{"A", "AAAA", "ANY", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT", "+SHORT"}, strings.ToUpper(word))
}

// MayRunInput reports whether a program may run its input, because it contains one of certain words.
// A program without these words is still assumed to run code.
func MayRunInput(program string) bool {
	for line := range strings.SplitSeq(programs, "\n") {
		if word, ok := strings.CutPrefix(line, "input "); ok && strings.Contains(program, word) {
			return true
		}
	}
	return program == ""
}

// PackedEnding returns the suffix that a packer adds to a name; empty if it is unknown.
func PackedEnding(packer string) string {
	return map[string]string{"gzip": ".gz", "gunzip": ".gz", "pigz": ".gz", "bzip2": ".bz2", "bunzip2": ".bz2", "xz": ".xz", "unxz": ".xz", "zstd": ".zst", "unzstd": ".zst"}[packer]
}
