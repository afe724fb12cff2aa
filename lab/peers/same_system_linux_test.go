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

// normal returns a message without our label, and without an empty _meta. Everything else is
// compared: ids, times, random values of the server.
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

// whoAsks matches what the gateway adds to a question of the server.
var whoAsks = regexp.MustCompile(`"message":"The server “everything” asks( you to open [a-z0-9.:]+)?: `)

func normals(list []map[string]any) []string {
	out := make([]string, 0, len(list))
	for _, m := range list {
		out = append(out, normal(m))
	}
	return out
}

// byTheClock reports whether a server sends a message by a timer, so that its position among other
// messages means nothing.
func byTheClock(m map[string]any) bool {
	switch m["method"] {
	case "notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed",
		"notifications/tasks/status":
		return true
	}
	return false
}

// inOrder groups messages. The group "" has the messages whose order the protocol fixes: requests,
// their answers, and notifications about a request before its answer. Each other kind is a group in
// its own order.
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

// A pair is one conversation without the gateway and the same one through it.
type pair struct {
	t               *testing.T
	direct, through *record
	heard, told     int // messages that were equal
}

// newPair begins both conversations, each with its own server.
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

// play plays a part in both conversations, and compares what the client and the server received. A
// ping at the end ensures that most messages have arrived. For messages that a server sends by a
// timer, and the answers to them, it waits until both sides are equal. If they do not become equal,
// the log shows the difference.
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

// TestEverything compares each feature of the reference server through the gateway, with a policy
// that enforces nothing, with the same feature without the gateway: all messages that the client
// and the server receive are the same.
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

// TestListsInPages does the same for what the reference server lacks: lists of several pages, and
// prompts that change.
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

// label matches our label in the inspector's output.
var label = regexp.MustCompile(`"_meta":\s*\{\s*"` + strings.ReplaceAll(ourLabel, ".", `\.`) + `":\s*\{[^}]*\}\s*\},?\s*`)
