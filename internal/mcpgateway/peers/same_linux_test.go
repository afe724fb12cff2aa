package peers

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// normal is a message without what differs from run to run: ids, times, and our
// own label.
func normal(m map[string]any) string {
	m = maps.Clone(m)
	delete(m, "id")
	if result, ok := m["result"].(map[string]any); ok {
		if meta, ok := result["_meta"].(map[string]any); ok {
			if delete(meta, "dev.floodmark/label"); len(meta) == 0 {
				delete(result, "_meta")
			}
		}
	}
	if params, ok := m["params"].(map[string]any); ok && m["method"] == "elicitation/create" {
		params = maps.Clone(params)
		message, _ := params["message"].(string)
		params["message"] = strings.TrimPrefix(message, "The server “everything” asks: ") // our word
		m["params"] = params
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	if m["method"] == "notifications/message" {
		return drawn.ReplaceAllString(string(data), "~")
	}
	return unsteady.ReplaceAllString(string(data), "~")
}

// drawn are the level and the text of a log message: the server draws lots.
var drawn = regexp.MustCompile(`"(data|level)":"[^"]*"`)

// unsteady are times of day, dates, and names that are drawn.
var unsteady = regexp.MustCompile(`\d{1,2}/\d{1,2}/\d{4}|\d{1,2}:\d{2}:\d{2}( [AP]M)?|\d{4}-\d{2}-\d{2}T[0-9:.]+Z|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}`)

func obj(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1] //nolint:forcetypeassert // keys of a literal
	}
	return m
}

// A part of a conversation with server-everything.
type part struct {
	name string
	play func(*talk)
}

func tool(name string, args ...any) func(*talk) {
	return func(k *talk) { k.ask("tools/call", obj("name", name, "arguments", obj(args...))) }
}

func asked(method string, params map[string]any) func(*talk) {
	return func(k *talk) { k.ask(method, params) }
}

func parts() []part {
	prompt := obj("type", "ref/prompt", "name", "completable-prompt")
	template := obj("type", "ref/resource", "uri", "demo://resource/dynamic/text/{resourceId}")
	return []part{
		{"ping", asked("ping", obj())},
		{"tools", asked("tools/list", obj())},
		{"a tool", tool("echo", "message", "hello")},
		{"a wrong argument", tool("echo", "massage", 1)},
		{"a tool that is not there", tool("nothing")},
		{"a sum", tool("get-sum", "a", 2, "b", 3.5)},
		{"a picture", tool("get-tiny-image")},
		{"annotations", tool("get-annotated-message", "messageType", "error", "includeImage", true)},
		{"structured content", tool("get-structured-content", "location", "Chicago")},
		{"links", tool("get-resource-links", "count", 3)},
		{"an embedded resource", tool("get-resource-reference", "resourceType", "Blob", "resourceId", 2)},
		{"a resource that appears", tool("gzip-file-as-resource", "name", "a.gz", "data", "data:text/plain,hello", "outputType", "resourceLink")},
		{"roots", tool("get-roots-list")},
		{"sampling", tool("trigger-sampling-request", "prompt", "Say something.")},
		{"elicitation", tool("trigger-elicitation-request")},
		{"resources", asked("resources/list", obj())},
		{"templates", asked("resources/templates/list", obj())},
		{"a resource", asked("resources/read", obj("uri", "demo://resource/static/document/features.md"))},
		{"a resource of a template", asked("resources/read", obj("uri", "demo://resource/dynamic/text/7"))},
		{"a resource that is not there", asked("resources/read", obj("uri", "demo://nowhere"))},
		{"prompts", asked("prompts/list", obj())},
		{"a prompt", asked("prompts/get", obj("name", "args-prompt", "arguments", obj("city", "Bonn", "state", "NRW")))},
		{"a prompt with a resource", asked("prompts/get", obj("name", "resource-prompt", "arguments", obj("resourceType", "Text", "resourceId", "1")))},
		{"a prompt without its argument", asked("prompts/get", obj("name", "args-prompt"))},
		{"completion of a prompt", asked("completion/complete", obj("ref", prompt, "argument", obj("name", "department", "value", "S")))},
		{"completion of a template", asked("completion/complete", obj("ref", template, "argument", obj("name", "resourceId", "value", "1")))},
		{"the level of logs", asked("logging/setLevel", obj("level", "debug"))},
		{"an unknown method", asked("future/thing", obj("x", 1))},
		{"a cursor nobody gave", asked("tools/list", obj("cursor", "nonsense"))},
		{"subscription", subscribe},
		{"logging", logging},
		{"progress", progress},
		{"cancellation", cancel},
		{"a task", task},
	}
}

func subscribe(k *talk) {
	uri := "demo://resource/dynamic/text/1"
	k.ask("resources/subscribe", obj("uri", uri))
	k.ask("tools/call", obj("name", "toggle-subscriber-updates", "arguments", obj()))
	k.until(func(m map[string]any) bool { return m["method"] == "notifications/resources/updated" })
	k.ask("tools/call", obj("name", "toggle-subscriber-updates", "arguments", obj()))
	k.ask("resources/unsubscribe", obj("uri", uri))
}

func logging(k *talk) {
	k.ask("tools/call", obj("name", "toggle-simulated-logging", "arguments", obj()))
	k.until(func(m map[string]any) bool { return m["method"] == "notifications/message" })
	k.ask("tools/call", obj("name", "toggle-simulated-logging", "arguments", obj()))
}

func progress(k *talk) {
	k.ask("tools/call", obj("name", "trigger-long-running-operation", "arguments", obj("duration", 1, "steps", 4), "_meta", obj("progressToken", "p1")))
}

// cancel takes a call back that has begun, and waits until its end would be.
func cancel(k *talk) {
	k.next++
	k.send(obj("id", k.next, "method", "tools/call", "params",
		obj("name", "trigger-long-running-operation", "arguments", obj("duration", 2, "steps", 2), "_meta", obj("progressToken", "p2"))))
	k.until(func(m map[string]any) bool { return m["method"] == "notifications/progress" })
	k.send(obj("method", "notifications/cancelled", "params", obj("requestId", k.next, "reason", "enough")))
	time.Sleep(1500 * time.Millisecond)
	k.ask("ping", obj())
}

func task(k *talk) {
	m := k.ask("tools/call", obj("name", "simulate-research-query", "arguments", obj("topic", "floods"), "task", obj("ttl", 60000)))
	result, _ := m["result"].(map[string]any)
	about, _ := result["task"].(map[string]any)
	id, _ := about["taskId"].(string)
	if id == "" {
		k.t.Fatalf("no task: %v", m)
	}
	k.ask("tasks/result", obj("taskId", id))
	k.ask("tasks/get", obj("taskId", id))
}

// hello shakes hands and waits until the server has said all it says by itself.
func hello(k *talk) {
	k.ask("initialize", obj("protocolVersion", "2025-11-25", "clientInfo", obj("name", "peers", "version", "1"), "capabilities", obj(
		"sampling", obj(), "elicitation", obj("form", obj()), "roots", obj("listChanged", true),
		"tasks", obj("list", obj(), "cancel", obj()),
	)))
	k.send(obj("method", "notifications/initialized"))
	k.until(func(m map[string]any) bool { return m["method"] == "notifications/message" })
}

// TestEverything holds each feature of the reference server through the gateway,
// whose policy enforces nothing, against the same without it: every message that
// the client gets is the same.
func TestEverything(t *testing.T) {
	need(t)
	dir := monitor(t, "version: 1\nprofile: dry-run\n")
	direct, through := begin(t, everything(t)), begin(t, wrapped(dir, "everything", everything(t)))
	hello(direct)
	hello(through)
	compare(t, "hello", direct, through)
	messages := 0
	for _, p := range parts() {
		began := time.Now()
		p.play(direct)
		first := time.Since(began)
		p.play(through)
		messages += compare(t, p.name, direct, through)
		t.Logf("%s: %.1f s, then %.1f s through the gateway", p.name, first.Seconds(), (time.Since(began) - first).Seconds())
	}
	t.Logf("%d parts, %d messages are the same", len(parts()), messages)
}

// compare holds what two clients heard against each other, and returns how much
// that was. Notifications may pass an answer that is being judged, so each kind
// of message is compared in its own order.
func compare(t *testing.T, name string, direct, through *talk) int {
	t.Helper()
	time.Sleep(20 * time.Millisecond)
	direct.rest()
	through.rest()
	if diff := cmp.Diff(byKind(direct.log), byKind(through.log)); diff != "" {
		t.Errorf("%s: direct (-), through the gateway (+):\n%s", name, diff)
	}
	n := len(direct.log)
	direct.log, through.log = nil, nil
	return n
}

// rest takes in what has come already.
func (k *talk) rest() {
	for {
		select {
		case m, ok := <-k.heard:
			if !ok {
				return
			}
			k.note(m)
			if m["method"] != nil && m["id"] != nil {
				k.send(map[string]any{"id": m["id"], "result": answerTo(m)})
			}
		default:
			return
		}
	}
}

// byKind puts messages of one kind together, each in its order. How often a
// server repeats what it says by the clock is its own.
func byKind(log []string) []string {
	kind := regexp.MustCompile(`"method":"([^"]*)"`)
	list := slices.Clone(log)
	of := func(s string) string {
		if m := kind.FindStringSubmatch(s); m != nil {
			return m[1]
		}
		return ""
	}
	slices.SortStableFunc(list, func(a, b string) int { return strings.Compare(of(a), of(b)) })
	return slices.CompactFunc(list, func(a, b string) bool {
		repeats := of(a) == "notifications/resources/updated" || of(a) == "notifications/message"
		return repeats && of(a) == of(b)
	})
}

// label is ours, as the inspector prints it.
var label = regexp.MustCompile(`"_meta":\s*\{\s*"dev\.floodmark/label":\s*\{[^}]*\}\s*\},?\s*`)
