// Secretrules writes the rules by which internal/secret/redact finds secrets. They are gitleaks' rules
// (MIT) of one pinned release, changed only in form.
//
//	go -C tools run ./secretrules ../internal/secret/redact
//
// It writes rules.json and gitleaks' licence.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/BurntSushi/toml"
)

// The release that the rules are from, with its hash according to the go command.
const (
	module  = "github.com/zricethezav/gitleaks/v8"
	version = "v8.30.1"
	sum     = "h1:PmEvCfVI7ti9dV3s5aMZUY7sS2GxRvG3yzih7E+cS3w="
	table   = "config/gitleaks.toml"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "secretrules:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("name the folder to write to")
	}
	dir, err := release()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, table))
	if err != nil {
		return err
	}
	licence, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		return err
	}
	out, err := convert(text)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(args[0], "rules.json"), out, 0o600); err != nil {
		return err
	}
	notice := "The rules in rules.json are those of gitleaks " + version + ", " + table + ".\n\n"
	return os.WriteFile(filepath.Join(args[0], "LICENSE.gitleaks"), append([]byte(notice), licence...), 0o600)
}

// release downloads the pinned release and returns its folder.
func release() (string, error) {
	cmd := exec.CommandContext(context.Background(), "go", "mod", "download", "-json", module+"@"+version)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", module, err)
	}
	var got struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &got); err != nil {
		return "", err
	}
	if got.Sum != sum {
		return "", fmt.Errorf("%s@%s has the hash %s, not %s", module, version, got.Sum, sum)
	}
	return got.Dir, nil
}

// convert writes one rule on each line, so that changes are readable.
func convert(text []byte) ([]byte, error) {
	var in theirs
	if err := toml.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	var rules []rule
	for _, r := range in.Rules {
		if _, out := leftOut()[r.ID]; out {
			continue
		}
		list, err := split(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		rules = append(rules, list...)
	}
	hash := sha256.Sum256(text)
	var out bytes.Buffer
	for _, head := range []struct {
		key   string
		value any
	}{
		{"source", module + "@" + version + " " + table},
		{"sha256", hex.EncodeToString(hash[:])},
		{"license", "MIT, see LICENSE.gitleaks"},
		{"leftOut", leftOut()},
		{"allow", allowOf([]theirAllow{in.Allow})},
	} {
		line, err := encode(head.value)
		if err != nil {
			return nil, err
		}
		sep := ",\n"
		if out.Len() == 0 {
			sep = "{\n"
		}
		fmt.Fprintf(&out, "%s%q: %s", sep, head.key, line)
	}
	out.WriteString(",\n\"rules\": [")
	for i, r := range rules {
		line, err := encode(r)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(line)
	}
	out.WriteString("\n]\n}\n")
	return out.Bytes(), nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
