package truth

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A sample is one line of a corpus.
type sample struct {
	File  string // lines, bypass, everyday, or generated
	Class string
	// Word is the least that a report must say. For an everyday line it is the most that the
	// catalog may say. If it is empty, only what is observed counts.
	Word string
	Line string
}

// words returns the words that a corpus may use.
func words() []string {
	return []string{"-", "read", "secret", "environment", "fetch", "write", "delete", "send", "listen", "run", "admin"}
}

// readCorpus reads a file of samples.
func readCorpus(name string) ([]sample, error) {
	f, err := os.Open(filepath.Join("../../internal/shell/shellscan/testdata", name+".txt"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var all []sample
	class := ""
	for scan := bufio.NewScanner(f); scan.Scan(); {
		line := scan.Text()
		if name, ok := strings.CutPrefix(line, "# class: "); ok {
			class = name
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, text, ok := strings.Cut(line, " ")
		if !ok || !slices.Contains(words(), word) || class == "" {
			return nil, fmt.Errorf("%s: want a class, a word and a line: %q", name, line)
		}
		if word == "-" {
			word = ""
		}
		all = append(all, sample{name, class, word, plain(text)})
	}
	return all, nil
}

// plain returns a line with «⏎» and «␍» replaced by the characters that they represent.
func plain(text string) string { return strings.NewReplacer("⏎", "\n", "␍", "\r").Replace(text) }

// readKnown reads the lines that are known to be judged wrong. A line that begins with «generated »
// gives a text instead: generated lines that contain it are known to be judged wrong. The list may
// only get shorter.
func readKnown() (map[string]bool, error) {
	data, err := os.ReadFile("../../internal/shell/shellscan/testdata/known.txt")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if line != "" && !strings.HasPrefix(line, "# ") {
			known[plain(line)] = true
		}
	}
	return known, nil
}
