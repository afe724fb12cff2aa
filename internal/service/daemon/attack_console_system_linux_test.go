package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/setup/config"
)

// atConsole begins the names of what is tried at the console.
const atConsole = "console: "

// linkFile is where the link of the console is left for the attacker, below the folder of the play:
// more than any agent is told.
func linkFile(p config.Paths) string {
	return filepath.Join(filepath.Dir(filepath.Dir(p.Service)), "link")
}

// openConsole opens the console as the owner does, at a terminal outside of every agent's family. A
// monitor with a user of its own has none.
func (p *play) openConsole() {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "script", "-qec", filepath.Join(p.bin, "floodmark")+" open --print --dir "+p.dir, "/dev/null")
	cmd.SysProcAttr = as(ownerUser)
	out, err := cmd.CombinedOutput()
	if err != nil && !p.system {
		p.t.Fatalf("open the console: %v\n%s", err, out)
	}
	link := ""
	for word := range strings.FieldsSeq(string(out)) {
		if strings.Contains(word, "/#open=") {
			link = word
		}
	}
	if (link == "") != p.system {
		p.t.Fatalf("the link is %q: %s", link, out)
	}
	file := linkFile(config.DirPaths(p.dir))
	if err := errors.Join(os.WriteFile(file, []byte(link), 0o644), os.Chmod(file, 0o644)); err != nil {
		p.t.Fatal(err)
	}
}

// waysToTheConsole are what is tried with a fresh link in hand.
func waysToTheConsole() map[string]func(context.Context, config.Paths) error {
	return map[string]func(context.Context, config.Paths) error{
		atConsole + "look": func(ctx context.Context, p config.Paths) error {
			return atLink(ctx, p, func(base, _ string) (*http.Request, error) {
				return http.NewRequestWithContext(ctx, http.MethodGet, base+"/", http.NoBody)
			})
		},
		atConsole + "log in": func(ctx context.Context, p config.Paths) error {
			return atLink(ctx, p, func(base, code string) (*http.Request, error) {
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/login", strings.NewReader(fmt.Sprintf(`{"code":%q}`, code)))
				if err == nil {
					r.Header.Set("Content-Type", "application/json")
				}
				return r, err
			})
		},
	}
}

// atLink sends a request to the console.
func atLink(_ context.Context, p config.Paths, request func(base, code string) (*http.Request, error)) error {
	link, err := os.ReadFile(linkFile(p))
	if err != nil {
		return err
	}
	base, code, ok := strings.Cut(string(link), "/#open=")
	if !ok {
		return errors.New("there is no console")
	}
	r, err := request(base, code)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%d %s", resp.StatusCode, strings.TrimSpace(string(said)))
	}
	return nil
}
