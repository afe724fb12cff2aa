package codingday

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// names replaces everything that differs at each recording by fixed names.
type names struct {
	world *world
	ids   map[string]string
	times []*regexp.Regexp
}

func newNames(w *world) *names {
	return &names{world: w, ids: map[string]string{}, times: []*regexp.Regexp{
		regexp.MustCompile(`\b(duration_ms|in|real|user|sys|took|after)([ \t:]+)\d+m?\.?\d*(m?s)?`),
		regexp.MustCompile(`(\(|\s)()\d+\.\d+(m?s)\b`),
		regexp.MustCompile(`(\b[A-Z][a-z]{2} +)()\d{1,2} \d\d:\d\d()\b`),
	}}
}

// clean returns an agent's message without the paths, times and numbers of this machine. In calls
// of the agent it replaces only paths.
func (n *names) clean(raw json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	delete(m, "transcript_path")
	delete(m, "agent_transcript_path")
	for key, v := range m {
		m[key] = n.value(key, v, false)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func (n *names) value(key string, v any, result bool) any {
	result = result || key == "tool_response" || key == "content"
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = n.value(k, x, result && k != "input")
		}
		return v
	case []any:
		for i, x := range v {
			v[i] = n.value("", x, result)
		}
		return v
	case string:
		switch key {
		case "session_id", "sessionId", "turn_id", "agent_id":
			if n.ids[v] == "" {
				n.ids[v] = fmt.Sprintf("%.1s%d", key, len(n.ids)+1)
			}
			return n.ids[v]
		}
		return n.text(v, result)
	}
	return v
}

func (n *names) text(s string, result bool) string {
	s = strings.ReplaceAll(s, n.world.home, Home)
	s = strings.ReplaceAll(s, n.world.root, "/srv/machine")
	if !result {
		return s
	}
	for _, re := range n.times {
		s = re.ReplaceAllString(s, "${1}${2}1${3}")
	}
	return strings.ReplaceAll(s, "root root", "dev dev")
}

// skipped returns the folders of the home that belong to agents or are caches.
func skipped() []string { return []string{".codex", ".pi", ".npm", ".cache", "go", "objects", "logs"} }

// snapshot returns a short hash for every file below the home.
func (w *world) snapshot() map[string]string {
	files := map[string]string{}
	_ = filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // it was deleted meanwhile
		case d.IsDir() && slices.Contains(skipped(), d.Name()):
			return filepath.SkipDir
		case strings.Contains(path, "/.git/") && !strings.Contains(path, "/.git/hooks/") && d.Name() != "config", strings.HasSuffix(path, ".sample"):
			return nil
		case !d.Type().IsRegular(), d.Name() == ".bash_profile":
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // it was deleted meanwhile
		}
		sum := sha256.Sum256([]byte(n0(w, data)))
		files[Home+strings.TrimPrefix(path, w.home)] = hex.EncodeToString(sum[:8])
		return nil
	})
	return files
}

// n0 returns the content of a file without this machine's paths.
func n0(w *world, data []byte) string {
	return strings.ReplaceAll(string(data), w.root, "/srv/machine")
}

// git returns what is recorded of a repository.
func (w *world) git(folder string) Git {
	g := Git{
		Root:  strings.Replace(folder, w.home, Home, 1),
		Owner: w.output(folder, "git", "config", "user.email"), Remote: w.output(folder, "git", "remote", "get-url", "origin"),
	}
	last := map[string]string{}
	who := ""
	for line := range strings.Lines(w.output(folder, "git", "log", "--format=%x00%h %ae", "--name-only")) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "\x00"); ok {
			g.Log = append(g.Log, head)
			_, who, _ = strings.Cut(head, " ")
		} else if line != "" && last[line] == "" {
			last[line] = who
		}
	}
	for file, by := range last {
		if by != g.Owner {
			g.Others = append(g.Others, file)
		}
	}
	slices.Sort(g.Others)
	return g
}

// pack returns traces as compressed lines. Equal traces give equal bytes.
func pack(list []*Trace) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false)
	for _, t := range list {
		if err := enc.Encode(t); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
