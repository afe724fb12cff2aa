package peers

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ourLabel is what the gateway adds to the result of a call.
const ourLabel = "dev.floodmark/label"

// normal is a message without our own label, and without an empty place for one.
// Everything else counts: ids, times, what the server draws by lot.
func normal(m map[string]any) string {
	m = maps.Clone(m)
	result, _ := m["result"].(map[string]any)
	if meta, ok := result["_meta"].(map[string]any); ok {
		result, meta = maps.Clone(result), maps.Clone(meta)
		delete(meta, ourLabel)
		if result["_meta"] = meta; len(meta) == 0 {
			delete(result, "_meta")
		}
		m["result"] = result
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return whoAsks.ReplaceAllString(string(data), `"message":"`)
}

// whoAsks is what the gateway puts before a question of the server.
var whoAsks = regexp.MustCompile(`"message":"The server “everything” asks( you to open [a-z0-9.:]+)?: `)

func normals(list []map[string]any) []string {
	out := make([]string, 0, len(list))
	for _, m := range list {
		out = append(out, normal(m))
	}
	return out
}

// byTheClock reports what a server says by a timer of its own, so that its place
// among other messages means nothing.
func byTheClock(m map[string]any) bool {
	switch m["method"] {
	case "notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed",
		"notifications/tasks/status":
		return true
	}
	return false
}

// inOrder are the messages whose order the protocol fixes: requests and their
// answers, and what is said about a request before its answer. The others follow,
// each kind in its own order.
func inOrder(list []map[string]any) map[string][]string {
	out := map[string][]string{}
	for _, m := range list {
		kind := ""
		if byTheClock(m) {
			kind, _ = m["method"].(string)
		}
		out[kind] = append(out[kind], normal(m))
	}
	return out
}

// A pair is one conversation without the gateway and one through it.
type pair struct {
	t               *testing.T
	direct, through *record
	heard, told     int // messages that were the same
}

// newPair begins both with a server of its own each.
func newPair(t *testing.T, name string, command []string) *pair {
	t.Helper()
	dir, files := monitor(t, "version: 1\nprofile: dry-run\n"), t.TempDir()
	first, second := filepath.Join(files, "direct"), filepath.Join(files, "through")
	return &pair{
		t:       t,
		direct:  &record{talk: begin(t, teed(t, first, command)), file: first},
		through: &record{talk: begin(t, wrapped(dir, name, teed(t, second, command))), file: second},
	}
}

// play plays a part in both and compares what the client heard and what the server
// did. A ping at its end makes sure that most has arrived; for what a server says by
// its timers, and for answers to that, it waits until both are the same. If they do not
// become so, the log says what differs.
func (p *pair) play(name string, part func(*talk)) {
	p.t.Helper()
	began, said := time.Now(), false
	for _, r := range []*record{p.direct, p.through} {
		part(r.talk)
		r.ask("ping", obj())
	}
	var told, toldThrough []map[string]any
	for ; ; time.Sleep(10 * time.Millisecond) {
		p.direct.rest()
		p.through.rest()
		told, toldThrough = append(told, p.direct.told()...), append(toldThrough, p.through.told()...)
		client := cmp.Diff(inOrder(p.direct.log), inOrder(p.through.log))
		server := cmp.Diff(normals(told), normals(toldThrough))
		if client == "" && server == "" {
			break
		}
		if !said && time.Since(began) > 10*time.Second {
			said = true
			p.t.Logf("%s: not yet the same, directly (-) and through the gateway (+); the client hears:\n%s\nthe server hears:\n%s", name, client, server)
		}
	}
	p.heard, p.told = p.heard+len(p.direct.log), p.told+len(told)
	p.direct.log, p.through.log = nil, nil
	p.t.Logf("%s: %.1f s", name, time.Since(began).Seconds())
}

// TestEverything holds each feature of the reference server through the gateway,
// whose policy enforces nothing, against the same without it: every message that
// the client gets, and every one that the server gets, is the same.
func TestEverything(t *testing.T) {
	t.Parallel()
	need(t)
	p := newPair(t, "everything", everything(t))
	var seen exercised
	for _, part := range parts() {
		p.play(part.name, func(k *talk) {
			part.play(k)
			if k == p.direct.talk {
				seen.add(k)
			}
		})
	}
	n := seen.check(t)
	t.Logf("%d features in %d parts; %d messages to the client and %d to the server are the same", n, len(parts()), p.heard, p.told)
}

// TestPages does the same for what the reference server has not: lists of several
// pages, and prompts that change.
func TestListsInPages(t *testing.T) {
	t.Parallel()
	need(t)
	self := teed(t, "", nil)[0]
	p := newPair(t, "pages", []string{self, "-pages"})
	p.play("hello", func(k *talk) {
		k.ask("initialize", obj("protocolVersion", "2025-11-25", "clientInfo", obj("name", "peers", "version", "1"), "capabilities", obj()))
		k.send(obj("method", "notifications/initialized"))
	})
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		p.play(method, func(k *talk) {
			cursor, n := any(nil), 0
			for n == 0 || cursor != nil {
				params := obj()
				if cursor != nil {
					params["cursor"] = cursor
				}
				result, _ := k.ask(method, params)["result"].(map[string]any)
				cursor, n = result["nextCursor"], n+1
			}
			if n != 3 {
				k.t.Errorf("%s has %d pages", method, n)
			}
		})
	}
	p.play("prompts that change", func(k *talk) {
		k.ask("tools/call", obj("name", "grow", "arguments", obj()))
		k.hear("notifications/prompts/list_changed")
	})
	t.Logf("%d messages to the client and %d to the server are the same", p.heard, p.told)
}

// label is ours, as the inspector prints it.
var label = regexp.MustCompile(`"_meta":\s*\{\s*"` + strings.ReplaceAll(ourLabel, ".", `\.`) + `":\s*\{[^}]*\}\s*\},?\s*`)
