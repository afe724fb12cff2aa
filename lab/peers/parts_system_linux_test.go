package peers

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
		{"hello", hello},
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
		{"the environment", tool("get-env")},
		{"roots", tool("get-roots-list")},
		{"other roots", otherRoots},
		{"sampling", tool("trigger-sampling-request", "prompt", "Say something.", "maxTokens", 20)},
		{"sampling as a task", tool("trigger-sampling-request-async", "prompt", "Say something.", "maxTokens", 20)},
		{"elicitation", tool("trigger-elicitation-request")},
		{"elicitation as a task", tool("trigger-elicitation-request-async")},
		{"elicitation by an address", tool("trigger-url-elicitation", "url", "https://mcp.example/", "message", "Look.", "elicitationId", "e1")},
		{"elicitation before a call", tool("trigger-url-elicitation", "url", "https://mcp.example/", "message", "Look.", "elicitationId", "e2", "errorPath", true)},
		{"resources", everyResource},
		{"templates", asked("resources/templates/list", obj())},
		{"a text of a template", asked("resources/read", obj("uri", "demo://resource/dynamic/text/7"))},
		{"bytes of a template", asked("resources/read", obj("uri", "demo://resource/dynamic/blob/8"))},
		{"a resource that is not there", asked("resources/read", obj("uri", "demo://nowhere"))},
		{"prompts", asked("prompts/list", obj())},
		{"a simple prompt", asked("prompts/get", obj("name", "simple-prompt"))},
		{"a prompt that is completed", asked("prompts/get", obj("name", "completable-prompt", "arguments", obj("department", "Sales", "name", "David")))},
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
		{"a task that asks", asking},
		{"a task that is taken back", takenBack},
		{"tasks", asked("tasks/list", obj())},
	}
}

// hello initializes the connection and waits until the server has sent what it sends by itself.
func hello(k *talk) {
	k.ask("initialize", obj("protocolVersion", "2025-11-25", "clientInfo", obj("name", "peers", "version", "1"), "capabilities", obj(
		"sampling", obj(), "elicitation", obj("form", obj(), "url", obj()), "roots", obj("listChanged", true),
		"tasks", obj("list", obj(), "cancel", obj(), "requests", obj("sampling", obj("createMessage", obj()), "elicitation", obj("create", obj()))),
	)))
	k.send(obj("method", "notifications/initialized"))
	k.hear("notifications/message")
}

// otherRoots reports that the client's folders changed, and waits until the server has asked for
// them.
func otherRoots(k *talk) {
	k.send(obj("method", "notifications/roots/list_changed"))
	k.hear("notifications/message")
}

// everyResource reads all resources that the server lists.
func everyResource(k *talk) {
	result, _ := k.ask("resources/list", obj())["result"].(map[string]any)
	list, _ := result["resources"].([]any)
	for _, r := range list {
		about, _ := r.(map[string]any)
		k.ask("resources/read", obj("uri", about["uri"]))
	}
}

func subscribe(k *talk) {
	uri := "demo://resource/dynamic/text/1"
	k.ask("resources/subscribe", obj("uri", uri))
	k.ask("tools/call", obj("name", "toggle-subscriber-updates", "arguments", obj()))
	k.hear("notifications/resources/updated")
	k.ask("tools/call", obj("name", "toggle-subscriber-updates", "arguments", obj()))
	k.ask("resources/unsubscribe", obj("uri", uri))
}

func logging(k *talk) {
	k.ask("tools/call", obj("name", "toggle-simulated-logging", "arguments", obj()))
	k.hear("notifications/message")
	k.ask("tools/call", obj("name", "toggle-simulated-logging", "arguments", obj()))
}

func progress(k *talk) {
	k.ask("tools/call", obj("name", "trigger-long-running-operation", "arguments", obj("duration", 1, "steps", 4), "_meta", obj("progressToken", "p1")))
}

// cancel cancels a call that has begun, and then makes a call that takes as long, so that the end
// of the first would be noticed.
func cancel(k *talk) {
	k.next++
	k.send(obj("id", k.next, "method", "tools/call", "params",
		obj("name", "trigger-long-running-operation", "arguments", obj("duration", 2, "steps", 2), "_meta", obj("progressToken", "p2"))))
	k.hear("notifications/progress")
	k.send(obj("method", "notifications/cancelled", "params", obj("requestId", k.next, "reason", "enough")))
	k.ask("tools/call", obj("name", "trigger-long-running-operation", "arguments", obj("duration", 2, "steps", 1)))
}

// newTask begins a task and returns its ID.
func newTask(k *talk, args map[string]any) string {
	m := k.ask("tools/call", obj("name", "simulate-research-query", "arguments", args, "task", obj("ttl", 60000)))
	result, _ := m["result"].(map[string]any)
	about, _ := result["task"].(map[string]any)
	id, _ := about["taskId"].(string)
	if id == "" {
		k.t.Fatalf("no task: %v", m)
	}
	return id
}

func task(k *talk) {
	id := newTask(k, obj("topic", "floods"))
	k.ask("tasks/result", obj("taskId", id))
	k.ask("tasks/get", obj("taskId", id))
}

// asking begins a task in which the server asks the client for something.
func asking(k *talk) {
	id := newTask(k, obj("topic", "python", "ambiguous", true))
	k.ask("tasks/result", obj("taskId", id))
}

func takenBack(k *talk) {
	k.ask("tasks/cancel", obj("taskId", newTask(k, obj("topic", "dykes"))))
}
