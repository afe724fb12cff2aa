package protect

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tailscale/hujson"
)

// Codex runs a hook only if the hook is trusted: config.toml must contain the hook's hash under the
// hook's place in hooks.json. The hash covers the meaning of the hook. We compute it as Codex 0.166
// does, and ask the installed Codex to confirm it, because another version may compute it
// differently.

// codexAskTime is how long Codex may take to answer. It takes about two seconds.
const codexAskTime = 20 * time.Second

// A trusted is a hook with the hash by which Codex trusts it.
type trusted struct {
	// Place is its place in hooks.json: event, group, handler.
	Place string `json:"place"`
	Hash  string `json:"hash"`
}

// trustWants returns the lines in config.toml that trust the hooks of one hooks.json.
func trustWants(hooksFile string, list []trusted) (out []tomlWant) {
	for _, t := range list {
		table := []string{"hooks", "state", hooksFile + ":" + t.Place}
		out = append(out, tomlWant{append(slices.Clone(table), "trusted_hash"), quote(t.Hash)})
	}
	return out
}

// mergeTrust puts hashes into config.toml. A hook that was disabled there is enabled again.
func mergeTrust(data []byte, list []tomlWant) ([]byte, error) {
	for _, w := range list {
		_, all, err := readTOML(data)
		if err != nil {
			return nil, err
		}
		table := w.path[:len(w.path)-1]
		enabled := tomlWant{append(slices.Clone(table), "enabled"), "true"}
		if v, is := lookup(all, enabled.path); is && v != true {
			if data, err = mergeTOML(data, []tomlWant{enabled}); err != nil {
				return nil, err
			}
		}
		if _, is := lookup(all, table); is {
			if data, err = mergeTOML(data, []tomlWant{w}); err != nil {
				return nil, err
			}
			continue
		}
		nl := newline(data)
		if len(data) > 0 && data[len(data)-1] != '\n' {
			data = append(slices.Clone(data), nl...)
		}
		data = append(slices.Clone(data), fmt.Sprintf("[hooks.state.%s] %s%s%s%s", quote(table[2]), tomlTag, nl, w.line("trusted_hash"), nl)...)
	}
	if _, _, err := readTOML(data); err != nil {
		return nil, &wrongFile{text: "the trust in our hooks does not go with what is there: " + err.Error(), hint: "start codex once and trust the hooks there"}
	}
	return data, nil
}

// trusts reports whether config.toml trusts these hooks.
func trusts(config []byte, list []tomlWant) bool {
	_, all, err := readTOML(config)
	if err != nil {
		return false
	}
	for _, w := range list {
		hash, _ := lookup(all, w.path)
		enabled, is := lookup(all, append(slices.Clone(w.path[:len(w.path)-1]), "enabled"))
		if !sameTOML(hash, w.value) || is && enabled != true {
			return false
		}
	}
	return true
}

// codexHooks returns our hooks in a hooks.json, with their hashes as Codex 0.166 computes them.
func codexHooks(hooks []byte) ([]trusted, error) {
	if len(bytes.TrimSpace(hooks)) == 0 {
		return nil, nil
	}
	d, err := readDocument(hooks)
	if err != nil {
		return nil, err
	}
	var list []trusted
	events := objectOf(valueOf(d.object, "hooks"))
	if events == nil {
		return nil, nil
	}
	for i := range events.Members {
		label := snake(memberName(&events.Members[i]))
		groups := arrayOf(&events.Members[i].Value)
		if groups == nil {
			continue
		}
		for g := range groups.Elements {
			group := objectOf(&groups.Elements[g])
			handlers := arrayOf(valueOf(group, "hooks"))
			if handlers == nil {
				continue
			}
			for h := range handlers.Elements {
				if !callsHook(&handlers.Elements[h]) {
					continue
				}
				hash, err := codexHash(label, valueOf(group, "matcher"), &handlers.Elements[h])
				if err != nil {
					return nil, err
				}
				list = append(list, trusted{fmt.Sprintf("%s:%d:%d", label, g, h), hash})
			}
		}
	}
	return list, nil
}

// codexHash returns the hash of one hook: SHA-256 over its meaning as JSON with sorted keys. Fields
// that were left out get the values Codex fills in.
func codexHash(label string, matcher, handler *hujson.Value) (string, error) {
	v, err := meaning(handler)
	if err != nil {
		return "", err
	}
	h, is := v.(map[string]any)
	if !is {
		return "", errors.New("a hook is not an object")
	}
	if _, is := h["async"]; !is {
		h["async"] = false
	}
	if _, is := h["timeout"]; !is {
		h["timeout"] = 600
	}
	identity := map[string]any{"event_name": label, "hooks": []any{h}}
	if matcher != nil {
		if identity["matcher"], err = meaning(matcher); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(identity); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.TrimSuffix(b.String(), "\n")))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// snake turns «PreToolUse» into «pre_tool_use».
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// codexHome returns the folder of Codex's settings as Codex itself spells it.
func codexHome(m Machine, folder string) string {
	if m.Getenv("CODEX_HOME") == "" {
		return folder
	}
	if there, err := filepath.EvalSymlinks(folder); err == nil {
		return there
	}
	return folder
}

// askCodex asks the installed Codex for its hashes of the hooks in a hooks.json. Codex works on a
// copy in a temporary folder, because it writes into its home.
func askCodex(ctx context.Context, m Machine, program string, hooks []byte) (list []trusted, err error) {
	home, err := os.MkdirTemp("", "floodmark-codex-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	if err := os.WriteFile(filepath.Join(home, "hooks.json"), hooks, 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, codexAskTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "app-server")
	cmd.Dir = home
	cmd.Env = append(m.offline(), "HOME="+home, "CODEX_HOME="+home)
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// Another process that holds the pipe must not keep us waiting after the timeout.
	defer context.AfterFunc(ctx, func() { _ = out.Close() })()
	list, err = hooksList(in, out, home)
	// Codex ends when its input is closed. Killing it could leave a child behind, which writes into
	// the folder we are about to remove.
	_ = in.Close()
	_ = cmd.Wait()
	return list, err
}

// hooksList sends the requests to codex app-server and reads its answer, one JSON object in each
// line.
func hooksList(in io.Writer, out io.Reader, home string) ([]trusted, error) {
	cwd, err := json.Marshal(home)
	if err != nil {
		return nil, err
	}
	for _, line := range []string{
		`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"floodmark","version":"1"}}}`,
		`{"method":"initialized"}`,
		`{"id":2,"method":"hooks/list","params":{"cwds":[` + string(cwd) + `]}}`,
	} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			return nil, err
		}
	}
	lines := bufio.NewScanner(io.LimitReader(out, maxSettings))
	lines.Buffer(nil, maxSettings)
	for lines.Scan() {
		var answer struct {
			ID     int
			Result struct {
				Data []struct {
					Hooks []struct{ Key, CurrentHash, Command string }
				}
			}
		}
		if json.Unmarshal(lines.Bytes(), &answer) != nil || answer.ID != 2 {
			continue
		}
		var list []trusted
		for _, d := range answer.Result.Data {
			for _, h := range d.Hooks {
				if _, place, found := strings.Cut(h.Key, "hooks.json:"); found && len(hookWords(h.Command)) > 0 {
					list = append(list, trusted{place, h.CurrentHash})
				}
			}
		}
		return list, nil
	}
	return nil, errors.Join(errors.New("codex app-server did not list its hooks"), lines.Err())
}
