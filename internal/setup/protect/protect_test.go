package protect

import (
	"os"
	"path/filepath"
	"testing"
)

// A bench is a machine with an empty home, in a folder of the test.
type bench struct {
	Machine
	t   testing.TB
	env map[string]string
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return benchIn(t, t.TempDir())
}

// benchIn returns a bench in a folder, which may contain the files of an earlier bench.
func benchIn(t testing.TB, dir string) *bench {
	t.Helper()
	b := &bench{t: t, env: map[string]string{"HOME": filepath.Join(dir, "home"), "PATH": filepath.Join(dir, "bin")}}
	b.Machine = Machine{
		Getenv: func(name string) string { return b.env[name] },
		Root:   dir, Records: filepath.Join(dir, "state", "protect"), Hook: "/opt/floodmark/bin/floodmark-hook", Socket: "/run/user/1000/floodmark/hook.sock",
	}
	for _, d := range []string{b.env["HOME"], b.env["PATH"]} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// have makes the settings folder of an agent.
func (b *bench) have(agent string) []file {
	b.t.Helper()
	k, err := kindOf(agent)
	if err != nil {
		b.t.Fatal(err)
	}
	folder, err := k.settings(b.Machine)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	files, err2 := k.files(b.Machine)
	if err != nil || err2 != nil {
		b.t.Fatal(err, err2)
	}
	return files
}

func (b *bench) write(path, text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// tree returns everything below the home folder: links, modes and contents.
func (b *bench) tree() map[string]string {
	b.t.Helper()
	all := map[string]string{}
	err := filepath.Walk(b.env["HOME"], func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " -> " + to
		}
		rel, _ := filepath.Rel(b.env["HOME"], path)
		all[rel] = text
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func (b *bench) protect(names ...string) *Plan {
	b.t.Helper()
	p, err := b.Protect(b.t.Context(), names...)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) unprotect(names ...string) *Plan {
	b.t.Helper()
	p, err := b.Unprotect(b.t.Context(), names...)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) apply(p *Plan) {
	b.t.Helper()
	if err := p.Apply(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) state(agent string) State {
	b.t.Helper()
	f, _, err := b.Find(b.t.Context(), agent)
	if err != nil {
		b.t.Fatal(err)
	}
	if f.Why != "" {
		b.t.Log(f.Why)
	}
	return f.State
}
