//go:build record

package tape

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/monitor"
)

// maxKept bounds how many bytes of a file with secrets are recorded.
const maxKept = 1 << 16

// A writer appends lines to a tape. A line that cannot be written is missing: the monitor goes on.
type writer struct {
	mu     sync.Mutex // guards all
	file   *os.File
	number int
	seen   map[string]string
}

func open() *writer {
	path := os.Getenv(Variable)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil
	}
	return &writer{file: f, seen: map[string]string{}}
}

func (w *writer) write(l Line) {
	l.At = time.Now().UnixMilli()
	data, err := json.Marshal(l)
	if err == nil {
		_, _ = w.file.Write(append(data, '\n')) // one write, so that the lines of several processes do not mix
	}
}

// Tapes returns hooks that record each event and each reply of next.
func Tapes(next Hooks) Hooks {
	if w := open(); w != nil {
		return &taped{w, next}
	}
	return next
}

type taped struct {
	*writer
	next Hooks
}

func (t *taped) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	t.mu.Lock()
	t.number++
	n := t.number
	t.write(Line{Told: Tell(n, ev)})
	t.mu.Unlock()
	reply, err := t.next.Handle(ctx, tenant, ev)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write(Line{Did: &Did{Number: n, Verdict: reply.Decision.Verdict, Reach: reply.Decision.Reach, Failed: err != nil}})
	return reply, err
}

// Watched returns a disk that records the answers of d.
func Watched(d monitor.Disk) monitor.Disk {
	if w := open(); w != nil {
		return &watched{w, d}
	}
	return d
}

type watched struct {
	w *writer
	monitor.Disk
}

// saw records an answer. Unless always is set, it leaves out an answer that equals the previous one
// to the same question.
func (d *watched) saw(always bool, answer any, verb string, words ...string) {
	data, err := json.Marshal(answer)
	if err != nil {
		return
	}
	asked := Question(verb, words...)
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	if was, ok := d.w.seen[asked]; ok && was == string(data) && !always {
		return
	}
	d.w.seen[asked] = string(data)
	d.w.write(Line{Saw: &Saw{Asked: asked, Answer: data}})
}

func (d *watched) Around(path string) (artifact.Checkout, bool) {
	c, ok := d.Disk.Around(path)
	answer := &c
	if !ok {
		answer = nil
	}
	d.saw(false, answer, "around", path)
	return c, ok
}

func (d *watched) Revisions(path string, words []string) []artifact.Checkout {
	list := d.Disk.Revisions(path, words)
	d.saw(false, list, "revisions", append([]string{path}, words...)...)
	return list
}

func (d *watched) Resolve(path string) string {
	to := d.Disk.Resolve(path)
	if to != path {
		d.saw(false, to, "resolve", path)
	}
	return to
}

func (d *watched) Links(folder string, deep bool) map[string]string {
	m := d.Disk.Links(folder, deep)
	d.saw(false, m, "links", folder, strconv.FormatBool(deep))
	return m
}

func (d *watched) Pushes(path, branch string) floodmark.Digest {
	to := d.Disk.Pushes(path, branch)
	d.saw(false, to, "pushes", path, branch)
	return to
}

func (d *watched) Composes(folder string) bool {
	is := d.Disk.Composes(folder)
	d.saw(false, is, "composes", folder)
	return is
}

func (d *watched) Databases(home string) []string {
	list := d.Disk.Databases(home)
	d.saw(false, list, "databases", home)
	return list
}

func (d *watched) Secrets(s artifact.Search) artifact.Hoard {
	h := d.Disk.Secrets(s)
	keep := func(list []artifact.Keeper) (kept []Keeper) {
		for _, k := range list {
			text := ""
			if len(k.Prints) > 0 {
				if data, err := os.ReadFile(k.Path); err == nil {
					text = strings.ToValidUTF8(string(data[:min(len(data), maxKept)]), "")
				}
			}
			kept = append(kept, Keeper{k.Path, text})
		}
		return kept
	}
	d.saw(false, Hoard{Files: keep(h.Files), Beside: keep(h.Beside), Whole: h.Whole}, "secrets", s.Folder)
	return h
}

func (d *watched) Repository(path string) (dir, common string) {
	dir, common = d.Disk.Repository(path)
	d.saw(false, [2]string{dir, common}, "repository", path)
	return dir, common
}

func (d *watched) Nested(folder string) (folders []string, all bool) {
	folders, all = d.Disk.Nested(folder)
	d.saw(false, Nested{folders, all}, "nested", folder)
	return folders, all
}

func (d *watched) Starts(path string, hooks []string) []string {
	list := d.Disk.Starts(path, hooks)
	d.saw(false, list, "starts", append([]string{path}, hooks...)...)
	return list
}

func (d *watched) Content(path string) floodmark.Digest {
	is := d.Disk.Content(path)
	d.saw(false, is, "content", path)
	return is
}

func (d *watched) Exactly(path string) floodmark.Digest {
	is := d.Disk.Exactly(path)
	d.saw(false, is, "exactly", path)
	return is
}

func (d *watched) Head(path string) string {
	is := d.Disk.Head(path)
	d.saw(false, is, "head", path)
	return is
}

func (d *watched) Missing(path string) bool {
	is := d.Disk.Missing(path)
	d.saw(false, is, "missing", path)
	return is
}

func (d *watched) Steers(folder string) (file string, says floodmark.Digest) {
	file, says = d.Disk.Steers(folder)
	d.saw(false, Steers{file, says}, "steers", folder)
	return file, says
}

func (d *watched) Changed(ctx context.Context, folder string, since time.Time) artifact.Altered {
	found := d.Disk.Changed(ctx, folder, since)
	d.saw(true, Altered{found.Paths, found.Whole}, "changed", folder)
	return found
}
