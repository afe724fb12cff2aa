package protection_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// run is the length of a piece of injected text that must not be in the source of a rule.
const run = 30

// Rules that know the recorded attacks would score well and not protect. So the source of
// everything that decides must contain nothing of the data: no name of a task, no piece of an
// injected text, no address, account or link.
func TestRulesDoNotKnowTheData(t *testing.T) {
	sources := ruleSources(t)
	injected, everything := recordedTexts(t)

	tasks := regexp.MustCompile(`(user|injection)_task_\d+`)
	pieces := map[uint64]string{} // hash of a run -> file
	seed := maphash.MakeSeed()
	written := map[string]string{} // address, account or link -> file
	for file, text := range sources {
		if id := tasks.FindString(text); id != "" {
			t.Errorf("%s names %s", file, id)
		}
		flat := strings.Join(strings.Fields(text), " ")
		for i := 0; i+run <= len(flat); i++ {
			pieces[maphash.String(seed, flat[i:i+run])] = file
		}
		for _, name := range names(text) {
			written[name] = file
		}
	}
	for _, text := range injected {
		flat := strings.Join(strings.Fields(text), " ")
		for i := 0; i+run <= len(flat); i++ {
			piece := flat[i : i+run]
			file, ok := pieces[maphash.String(seed, piece)]
			if ok && wordy(piece) {
				t.Errorf("%s holds a piece of an injected text: %q", file, piece)
				break
			}
		}
	}
	told := map[string]bool{}
	for _, text := range everything {
		for _, name := range names(text) {
			if file, ok := written[name]; ok && !told[name] {
				told[name] = true
				t.Errorf("%s holds %q, which stands in the data", file, name)
			}
		}
	}
}

// ruleSources returns the text of everything that decides, by file.
func ruleSources(t *testing.T) map[string]string {
	t.Helper()
	sources := map[string]string{}
	root := filepath.Join("..", "..")
	for _, dir := range []string{"catalog", "policy", "provenance", "intent", "report", "kernel", filepath.Join("internal", "ledger", "tokens"), filepath.Join("internal", "text", "language"), filepath.Join("internal", "secret"), filepath.Join("lab", "protection")} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() && e.Name() == "testdata" {
				return fs.SkipDir
			}
			ext := filepath.Ext(path)
			if e.IsDir() || strings.HasSuffix(path, "_test.go") || ext != ".go" && ext != ".yaml" && ext != ".yml" {
				return nil
			}
			data, err := os.ReadFile(path)
			rel, _ := filepath.Rel(root, path)
			sources[rel] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(sources) < 20 {
		t.Fatalf("only %d files were found", len(sources))
	}
	return sources
}

// recordedTexts returns the texts of attackers, and all texts of the data.
func recordedTexts(t *testing.T) (injected, everything []string) {
	t.Helper()
	var pool []string
	readJSON(t, "pool.json.gz", &pool)
	everything = pool
	seen := map[string]bool{}
	for _, s := range suites(t) {
		injected = append(injected, stringsIn(t, s.InjectionTasks)...)
		injected = append(injected, stringsIn(t, s.InjectionVectors)...)
		everything = append(everything, stringsIn(t, s.UserTasks)...)
	}
	f, err := os.Open(filepath.Join(dataFolder(t), "traces.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		_, rest, ok := bytes.Cut(lines.Bytes(), []byte(`"injections":`))
		if !ok {
			t.Fatal("a trace has no injections")
		}
		var texts map[string]any
		if err := json.NewDecoder(bytes.NewReader(rest)).Decode(&texts); err != nil {
			t.Fatal(err)
		}
		for _, v := range texts {
			text, _ := v.(string)
			if n, ok := v.(float64); ok {
				text = pool[int(n)]
			}
			if !seen[text] {
				seen[text] = true
				injected = append(injected, text)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return injected, append(everything, injected...)
}

func stringsIn(t *testing.T, raw json.RawMessage) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	return out
}

// names returns the addresses, accounts and links in a text, in lower case
// and without scheme.
func names(text string) []string {
	var out []string
	for _, f := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'`<>()[]{},;|«»“”", r)
	}) {
		f = strings.ToLower(strings.TrimRight(f, ".:!?/*_"))
		for _, scheme := range []string{"https://", "http://", "mailto:"} {
			f = strings.TrimPrefix(f, scheme)
		}
		if isAddress(f) || isLink(f) || isAccount(f) {
			out = append(out, f)
		}
	}
	return out
}

func isAddress(s string) bool {
	name, host, ok := strings.Cut(s, "@")
	return ok && name != "" && strings.Contains(host, ".")
}

// isLink reports whether a text is a link such as www.example.com or example.com/page. A bare host
// is not one, because shipped lists name well-known hosts on purpose.
func isLink(s string) bool {
	host, rest, _ := strings.Cut(s, "/")
	if !strings.Contains(host, ".") || strings.HasPrefix(host, ".") {
		return false
	}
	return strings.HasPrefix(host, "www.") || rest != "" && len(host) > 4
}

func isAccount(s string) bool {
	if len(s) < 15 || len(s) > 34 {
		return false
	}
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c < 'a' || c > 'z':
			return false
		}
	}
	return digits >= 10 && s[0] >= 'a' && s[1] >= 'a' && s[2] <= '9'
}

// wordy reports whether a text has enough letters. Lines of dashes have not.
func wordy(s string) bool {
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= run/2
}

func TestNamesFindsAddressesAccountsLinks(t *testing.T) {
	got := names(`write to "Ann.Lee@Mail.example" or www.a.example, pay gb29nwbk60161331926819; see https://b.example/x/. not e.g. this, catalog.Parse or github.com`)
	want := "ann.lee@mail.example www.a.example gb29nwbk60161331926819 b.example/x"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q", got)
	}
}
