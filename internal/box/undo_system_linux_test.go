package box_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/project/undo"
)

// destructive returns commands that a person might want to undo.
func destructive() []string {
	return []string{
		`rm -rf src`, `rm -rf *`, `rm -rf build deep empty`, `git reset -q --hard HEAD~1`, `git clean -qfdx`, `git checkout -q HEAD~1 -- .`,
		`git checkout -q -b other && echo x > src/b.go && git add -A && git commit -qm other`, `git update-ref -d refs/heads/side`, `git rm -rqf src`,
		`git add -A && git commit -qm all`, `git commit -q --amend -m other`, `git merge -q side`, `git checkout -q -- . && git rebase -q side`, `git checkout -q -- . && git revert --no-edit HEAD`,
		`git checkout -q -- .`, `git tag new && git mv src/a.go src/z.go`, `git update-index --refresh; git read-tree HEAD~1`,
		`for f in src/*; do mv "$f" "$f.bak"; done`, `mv src other`, `: > src/a.go`, `truncate -s 1 src/b.go notes.txt`, `find . -path ./.git -prune -o -type f -exec chmod 600 {} +`,
		`chmod +x notes.txt`, `rm -r src && echo file > src`, `rm notes.txt && mkdir notes.txt && echo x > notes.txt/y`, `rm link && ln -s src/b.go link`,
		`rm link && echo file > link`, `ln -sf notes.txt src/a.go`, `rmdir empty`, `rm -r empty && mkdir empty && echo x > empty/x`,
		`rm -rf deep/1/2/3/4/5`, `mkdir -p new/a/b/c && echo x > new/a/b/c/d`, `rm -f "with
newline" && echo other > "other
newline"`, `mv "with
newline" plain`, `sed -i s/a/b/ src/*.go notes.txt`, `cp -r src src2 && rm -r src && mv src2 src`, `touch -d 2001-01-01 notes.txt`,
		`tar cf all.tar src && rm -r src && tar xf all.tar`, `echo more >> notes.txt`, `dd if=/dev/zero of=big bs=1M count=3 status=none; rm notes.txt`,
	}
}

// laid returns a project with all sorts of files and some history.
func laid(t *testing.T, p *programs) *box.Spec {
	t.Helper()
	s := room(t)
	const lay = `git init -q -b main . && git config user.name x && git config user.email x@x.example && mkdir -p src build deep/1/2/3/4/5/6 empty
echo a > src/a.go; git add -A; git commit -qm one; git branch side; echo b > src/b.go; echo notes > notes.txt; git add -A; git commit -qm two
git checkout -q side; echo side > src/side.go; git add -A; git commit -qm side; git checkout -q main
echo out > build/out.o; echo deep > deep/1/2/3/4/5/6/f; ln -s src/a.go link; chmod 755 src/a.go; chmod 640 notes.txt; echo dirty >> src/b.go
printf x > "with
newline"; touch -d 2020-02-02 notes.txt; printf 'build/\n' > .git/info/exclude; sleep 0.02`
	c := exec.CommandContext(t.Context(), "bash", "-c", lay)
	c.Dir = s.Project
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

// picture returns everything in a folder: kinds, modes, links, times and content of files. It
// leaves out git's unnamed objects, which may stay.
func picture(t *testing.T, folder string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(folder, p)
		if strings.HasPrefix(rel, ".git/objects") {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%q %v", rel, info.Mode())
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			line += " -> " + to
		case d.Type().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %x %v", sha256.Sum256(data), info.ModTime())
		}
		list = append(list, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// store returns a store for what boxes replace.
func store(t *testing.T, p *programs) *undo.Store {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &undo.Store{Folder: root, Quota: undo.Quota, Now: time.Now, Lock: func(project string) (io.Closer, error) { return p.desk.Lock(project) }}
}

// notes returns git's log of HEAD.
func notes(t *testing.T, s *box.Spec) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.Project, ".git", "logs", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// looksAt lets git rewrite its index, as a `git status` of the owner may.
func looksAt(t *testing.T, s *box.Spec) {
	t.Helper()
	list := filepath.Join(s.Project, ".git", "index")
	before, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "git", "update-index", "--index-version", "4")
	c.Dir = s.Project
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if after, err := os.ReadFile(list); err != nil || bytes.Equal(before, after) {
		t.Errorf("the list of files is as it was (%v)", err)
	}
}

// undone changes a project in a box and undoes that.
func (p *programs) undone(t *testing.T) {
	for _, run := range destructive() {
		t.Run(run, func(t *testing.T) {
			t.Parallel()
			s, kept := laid(t, p), store(t, p)
			before, noted := picture(t, s.Project), notes(t, s)
			folder, err := kept.Room(undo.About{Session: "s", Call: "c"})
			if err != nil {
				t.Skip(err)
			}
			s.Folder, s.Undo = folder, kept.Quota
			exit, said := p.start(t, s, run)
			if exit != 0 || strings.Contains(said, "not kept") {
				t.Fatalf("%d, %s", exit, said)
			}
			if err := kept.Take(folder, undo.Said{}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(strings.TrimPrefix(notes(t, s), noted)) {
				if !strings.Contains(line, "\tin a box: ") { // the owner did not type it
					t.Errorf("git's log of HEAD says %q", line)
				}
			}
			if strings.Contains(run, "git commit") {
				looksAt(t, s)
			}
			list := kept.List("")
			if len(list) != 1 || slices.Equal(picture(t, s.Project), before) {
				t.Fatalf("%+v: nothing to undo: %s", list, said)
			}
			if r, err := kept.Back(list[0].ID, undo.How{}); err != nil || !r.Done {
				t.Fatalf("%+v, %v", r, err)
			}
			after := picture(t, s.Project)
			for _, line := range after {
				if !slices.Contains(before, line) {
					t.Errorf("it has %s", line)
				}
			}
			for _, line := range before {
				if !slices.Contains(after, line) {
					t.Errorf("it has not %s", line)
				}
			}
			c := exec.CommandContext(t.Context(), "git", "-C", s.Project, "fsck", "--no-dangling")
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			if left := kept.List(""); len(left) > 0 {
				t.Errorf("%+v is left", left)
			}
			if !t.Failed() {
				p.undid.Add(1)
			}
		})
	}
}

// fullDisk checks that nothing is moved in if not all of it fits, and that nothing is left over.
func (p *programs) fullDisk(t *testing.T) {
	s := room(t)
	s.Undo = undo.Quota
	c, name := p.boxed(t, s, "bash", "-c", `echo new > a; head -c 200000 /dev/zero > b; head -c 200000 /dev/zero > c; rm -r d`)
	const mounts = `mount -t tmpfs -o size=300k none . && cd "$PWD" && echo old > a && mkdir d && echo d > d/e && "$@"; cat a d/e; ls -A | tr '\n' ' '`
	outer := exec.CommandContext(t.Context(), "unshare", append([]string{"--user", "--map-current-user", "--keep-caps", "--mount", "bash", "-c", mounts, "bash"}, c.Args...)...)
	outer.Dir = s.Project
	said, exit := result(outer)
	_, o, err := p.desk.Read(name)
	if err != nil || exit != 0 || o == nil || !strings.Contains(o.Unmoved, "no space left") || !strings.HasSuffix(said, "old\nd\na d ") {
		t.Errorf("%d, %q, %+v, %v", exit, said, o, err)
	}
}
