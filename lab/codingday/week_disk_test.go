package codingday

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/story/tape"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// A tapedDisk gives the answers that the disk of a recorded week gave at the same time. For a
// question that was first asked later, it gives that later answer.
type tapedDisk struct {
	mu      sync.Mutex // guards all
	now     map[string]json.RawMessage
	first   map[string]json.RawMessage
	changed map[string]json.RawMessage // since the call that just ended
	roots   map[string]artifact.Checkout
	unknown int
}

func newTapedDisk(lines []tape.Line) *tapedDisk {
	d := &tapedDisk{now: map[string]json.RawMessage{}, first: map[string]json.RawMessage{}, roots: map[string]artifact.Checkout{}}
	for _, l := range lines {
		if l.Saw != nil && d.first[l.Saw.Asked] == nil && !ofACall(*l.Saw) {
			d.first[l.Saw.Asked] = l.Saw.Answer
		}
	}
	return d
}

// ofACall reports whether an answer is about one call, and not about the state of the disk.
func ofACall(s tape.Saw) bool { return strings.HasPrefix(s.Asked, "changed ") }

// saw moves on to an answer.
func (d *tapedDisk) saw(s tape.Saw) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ofACall(s) {
		return
	}
	d.now[s.Asked] = s.Answer
	var c *artifact.Checkout
	if strings.HasPrefix(s.Asked, "around ") && json.Unmarshal(s.Answer, &c) == nil && c != nil {
		d.roots[c.Root] = *c
	}
}

// during moves on to the answers that were given while one event was judged.
func (d *tapedDisk) during(lines []tape.Line) {
	d.mu.Lock()
	d.changed = map[string]json.RawMessage{}
	d.mu.Unlock()
	for _, l := range lines {
		if l.Saw == nil {
			continue
		}
		if ofACall(*l.Saw) {
			d.mu.Lock()
			d.changed[l.Saw.Asked] = l.Saw.Answer
			d.mu.Unlock()
		}
		d.saw(*l.Saw)
	}
}

// answer reads the answer of the recorded disk into to. It returns false if the disk was never
// asked.
func (d *tapedDisk) answer(to any, verb string, words ...string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := tape.Question(verb, words...)
	data, ok := d.now[asked]
	if !ok {
		data, ok = d.first[asked]
	}
	if !ok {
		d.unknown++
		return false
	}
	return json.Unmarshal(data, to) == nil
}

// Around implements [artifact.Disk]. For a path that was not asked about, it returns the known
// repository around the path.
func (d *tapedDisk) Around(path string) (artifact.Checkout, bool) {
	var c *artifact.Checkout
	if d.answer(&c, "around", path) {
		if c == nil {
			return artifact.Checkout{}, false
		}
		return *c, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var best artifact.Checkout
	for root, c := range d.roots {
		if len(root) > len(best.Root) && (path == root || strings.HasPrefix(path, root+"/")) {
			best = c
		}
	}
	return best, best.Root != ""
}

func (d *tapedDisk) Revisions(path string, words []string) (list []artifact.Checkout) {
	d.answer(&list, "revisions", append([]string{path}, words...)...)
	return list
}

// Resolve implements [artifact.Disk]: a path that is not on the tape leads to itself.
func (d *tapedDisk) Resolve(path string) string {
	d.mu.Lock()
	data, ok := d.now[tape.Question("resolve", path)]
	d.mu.Unlock()
	to := ""
	if !ok || json.Unmarshal(data, &to) != nil {
		return path
	}
	return to
}

func (d *tapedDisk) Links(folder string, deep bool) (m map[string]string) {
	d.answer(&m, "links", folder, strconv.FormatBool(deep))
	return m
}

func (d *tapedDisk) Pushes(path, branch string) (to floodmark.Digest) {
	d.answer(&to, "pushes", path, branch)
	return to
}

func (d *tapedDisk) Databases(home string) (list []string) {
	d.answer(&list, "databases", home)
	return list
}

func (d *tapedDisk) Composes(folder string) (alone bool) {
	d.answer(&alone, "composes", folder)
	return alone
}

func (d *tapedDisk) Secrets(s artifact.Search) artifact.Hoard {
	var h tape.Hoard
	d.answer(&h, "secrets", s.Folder)
	printed := func(list []tape.Keeper) (kept []artifact.Keeper) {
		for _, k := range list {
			one := artifact.Keeper{Path: k.Path}
			if k.Text != "" && s.Prints != nil {
				if one.Prints = s.Prints(k.Path, k.Text); len(one.Prints) == 0 {
					continue // by the rules of today there is no secret
				}
			}
			kept = append(kept, one)
		}
		return kept
	}
	return artifact.Hoard{Files: printed(h.Files), Beside: printed(h.Beside), Whole: h.Whole}
}

func (d *tapedDisk) Repository(path string) (dir, common string) {
	var two [2]string
	d.answer(&two, "repository", path)
	return two[0], two[1]
}

func (d *tapedDisk) Nested(folder string) (folders []string, all bool) {
	var n tape.Nested
	d.answer(&n, "nested", folder)
	return n.Folders, n.All
}

func (d *tapedDisk) Starts(path string, hooks []string) (list []string) {
	d.answer(&list, "starts", append([]string{path}, hooks...)...)
	return list
}

func (d *tapedDisk) Content(path string) (is floodmark.Digest) {
	d.answer(&is, "content", path)
	return is
}

func (d *tapedDisk) Exactly(path string) (is floodmark.Digest) {
	d.answer(&is, "exactly", path)
	return is
}

func (d *tapedDisk) Head(path string) (is string) {
	d.answer(&is, "head", path)
	return is
}

func (d *tapedDisk) Missing(path string) (is bool) {
	d.answer(&is, "missing", path)
	return is
}

// Steers implements [monitor.Disk]. Older tapes have no answers to it.
func (d *tapedDisk) Steers(folder string) (string, floodmark.Digest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var s tape.Steers
	if data, ok := d.now[tape.Question("steers", folder)]; !ok || json.Unmarshal(data, &s) != nil {
		return "", floodmark.Digest{}
	}
	return s.File, s.Says
}

// Changed implements [monitor.Disk]. It returns what was changed at the end of the same call in the
// recording, and nothing if that was not recorded.
func (d *tapedDisk) Changed(_ context.Context, folder string, _ time.Time) artifact.Altered {
	d.mu.Lock()
	defer d.mu.Unlock()
	data, ok := d.changed[tape.Question("changed", folder)]
	a := tape.Altered{Whole: true}
	if !ok || json.Unmarshal(data, &a) != nil {
		d.unknown += one(!ok)
	}
	return artifact.Altered{Paths: a.Paths, Whole: a.Whole}
}
