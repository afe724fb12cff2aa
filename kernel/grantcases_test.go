package kernel_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// lawTools are the desk's tools, and a shell whose lines the shipped catalog reads.
const lawTools = deskTools + `
  - {tool: bash, about: runs a command line, effect: run, returns: {trust: local, secrecy: internal}, args: {command: {role: critical, is: command}, cwd: {role: critical, is: path}, root: {role: critical, is: flag}, note: {role: content, is: text}}}
`

// lawRules ask about everything.
func lawRules(t *testing.T, toolWide bool) kernel.Rules {
	t.Helper()
	p, problems := policy.Load(policy.Layer{Name: "user", Data: fmt.Appendf(nil,
		"version: 1\nrelax: false\napprovals: {toolWide: %v}\nrules:\n  - {name: ask, when: 'true', action: {verdict: confirm}}\n", toolWide)})
	tools, err := catalog.Parse("tools", []byte(lawTools))
	shipped, shipErr := catalog.Shipped()
	if problems.Failed() || err != nil || shipErr != nil {
		t.Fatal(problems, err, shipErr)
	}
	return kernel.NewRules(p, catalog.New([]*catalog.File{tools}, shipped))
}

// lawDesk returns a session in a project.
func lawDesk(t *testing.T, rules kernel.Rules) *desk {
	t.Helper()
	d := &desk{t: t, rules: rules, state: kernel.NewState(), index: postings.NewMemory(), id: "s", at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	d.tell(hook.Event{Point: hook.SessionStart, Project: "/w"})
	d.owner("hello")
	return d
}

// A grantCase is a call with arguments that matter, with odd values.
type grantCase struct {
	kind string // what a pattern of it is about
	tool string
	args map[string]any
	// within reports whether a pattern of this call was said to let another one
	// through, judged without the code that is tried here.
	within func(other grantCase) bool
}

func (c grantCase) json() string {
	data, err := json.Marshal(c.args)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// grantCases make one call of each sort that gets an offer of its own.
var grantCases = []func(r *rand.Rand) grantCase{sendCase, codeCase, keepCase, hostCase, checkCase}

// offerKinds returns all kinds of offers: the scope and, for a pattern, what the pattern covers.
func offerKinds() []string {
	return []string{"once", "turn", "minutes", "tool", "pattern send", "pattern keep", "pattern host"}
}

func offerKind(kind string, g floodmark.GrantGiven) string {
	if g.Scope == floodmark.GrantPattern {
		return "pattern " + kind
	}
	return string(g.Scope)
}

func oddText(r *rand.Rand) string {
	odd := []string{"a@x.example", "#team", "to=b", `q"uote`, "a b", "7", "true", "null", "", "x\\y", "é", "a\u200bb", "http://x.example/a?b=c", "cc=d to=e", "*"}
	s := odd[r.IntN(len(odd))]
	for range r.IntN(3) {
		s += string(rune('a' + r.IntN(26)))
	}
	return s
}

// sameButText returns what a pattern covers that spells out every argument that matters.
func sameButText(args map[string]any) func(grantCase) bool {
	return func(other grantCase) bool {
		a, b := map[string]any{}, map[string]any{}
		for to, from := range map[*map[string]any]map[string]any{&a: args, &b: other.args} {
			for k, v := range from {
				if !isText(k) {
					(*to)[k] = v
				}
			}
		}
		return (grantCase{args: a}).json() == (grantCase{args: b}).json()
	}
}

func isText(name string) bool { return name == "body" || name == "text" || name == "note" }

func sendCase(r *rand.Rand) grantCase {
	args := map[string]any{"to": oddText(r), "body": oddText(r)}
	if r.IntN(2) == 0 {
		args["id"] = oddText(r)
	}
	if r.IntN(3) == 0 {
		args["amount"] = r.IntN(1000)
	}
	if r.IntN(3) == 0 {
		args["cc"] = oddText(r)
	}
	return grantCase{"send", "mail", args, sameButText(args)}
}

func codeCase(r *rand.Rand) grantCase {
	args := map[string]any{"code": oddText(r)}
	return grantCase{"code", "shell", args, sameButText(args)}
}

func keepCase(r *rand.Rand) grantCase {
	args := map[string]any{"path": "/w/" + oddText(r), "text": oddText(r)}
	return grantCase{"keep", "keep", args, sameButText(args)}
}

// hostCase reads an address. The approval covers its scheme, host and port, and every other
// argument that says where to go; the path may be any.
func hostCase(r *rand.Rand) grantCase {
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	args := map[string]any{"url": one("https", "https", "http", "HTTPS") + "://" + one("two.example", "Two.example", "a.two.example", "xn--tw-fka.example", "[::1]", "192.0.2.7") +
		one("", "", ":8443", ":443") + one("", "/", "/a", "/a?b=c", "/a@b.example", "?u=x.example", "#f", "/a//b.example")}
	if r.IntN(3) == 0 {
		args["other"] = "https://" + one("three.example", "two.example") + "/x"
	}
	if r.IntN(3) == 0 {
		args["note"] = oddText(r)
	}
	return grantCase{"host", "page", args, func(other grantCase) bool {
		changed := 0
		for _, k := range []string{"url", "other"} {
			a, ok := authority(args[k])
			b, also := authority(other.args[k])
			if ok != also || a != b {
				return false
			}
			if args[k] != other.args[k] {
				changed++
			}
		}
		return changed <= 1 && len(other.args) == len(args) // one host was named, the other address in full
	}}
}

// authority returns an address up to where its path begins, as plain text.
func authority(v any) (string, bool) {
	text, _ := v.(string)
	scheme, rest, ok := strings.Cut(text, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToLower(scheme + "://" + rest), ok && rest != ""
}

// checkCase tests, builds or checks the project. That is code like any other, so only the exact
// line is approved.
func checkCase(r *rand.Rand) grantCase {
	lines := []string{"go test ./...", "go vet ./...", "pytest -q tests", "cargo test", "make test -j 4", "npm test"}
	args := map[string]any{"command": lines[r.IntN(len(lines))]}
	if r.IntN(3) == 0 {
		args["cwd"] = []string{"/w", "/w/a", "/w/b c"}[r.IntN(3)]
	}
	return grantCase{"check", "bash", args, func(grantCase) bool { return false }}
}

// approves asks about a call and takes one of its offers, by a click or by its code.
func (d *desk) approves(r *rand.Rand, c grantCase) (floodmark.GrantGiven, bool) {
	d.t.Helper()
	ask := d.call(c.tool, c.json()).Ask
	if ask == nil {
		return floodmark.GrantGiven{}, false
	}
	cmd := approval.Command{Verb: approval.Approve, Tool: "all", Ticket: ask.ID, Calls: ask.Calls, Offer: 1 + r.IntN(len(ask.Call.Offers)), Picked: ask.Call.Place()}
	if r.IntN(4) == 0 { // typed
		cmd = approval.Command{Verb: approval.Approve, Tool: "all", Code: ask.Code, Picked: ask.Call.Place(), For: time.Duration(r.IntN(2)) * time.Hour}
	}
	grants := kept[floodmark.GrantGiven](d.answer(cmd))
	if len(grants) == 0 {
		return floodmark.GrantGiven{}, false
	}
	return grants[len(grants)-1], true
}

// other returns a call that differs in an argument that matters: by one byte, in its kind, or by
// one more argument. If any call of the tool was approved, it returns a call of another tool.
func (c grantCase) other(r *rand.Rand, wide bool) grantCase {
	if wide {
		o := c
		for o.tool == c.tool {
			o = grantCases[r.IntN(len(grantCases))](r)
		}
		return o
	}
	out := grantCase{c.kind, c.tool, map[string]any{}, nil}
	var critical []string
	for k, v := range c.args {
		out.args[k] = v
		if !isText(k) {
			critical = append(critical, k)
		}
	}
	slices.Sort(critical) // a map has no order, and a case must be found again
	k := critical[r.IntN(len(critical))]
	switch v := out.args[k].(type) {
	case string:
		if r.IntN(8) == 0 {
			out.args[fmt.Sprint("more", r.IntN(9))] = "x"
			break
		}
		out.args[k] = oneByte(r, k, v)
	case int:
		out.args[k] = fmt.Sprint(v)
	case bool:
		out.args[k] = !v
	}
	return out
}

// oneByte changes a text by one byte, removed, added or replaced, and now and then by more.
func oneByte(r *rand.Rand, name, v string) string {
	const odd = "abz019 /\\.:;@?#&|<>$`'\"*~!(){}[]=,-_\n\t\x00%+"
	b := []byte(v)
	at := r.IntN(len(b) + 1)
	switch n := r.IntN(5); {
	case n == 0 && at < len(b):
		b = append(b[:at:at], b[at+1:]...)
	case n == 1 && at < len(b):
		b[at] ^= 1
	case n == 2 && at < len(b):
		b[at] = odd[r.IntN(len(odd))]
	case n == 3:
		return v + " " + name + "=x"
	default:
		b = append(b[:at:at], append([]byte{odd[r.IntN(len(odd))]}, b[at:]...)...)
	}
	return string(b)
}
