package peers

import (
	"slices"
	"sort"
	"strings"
	"testing"
)

// exercised records which features of a server a conversation used.
type exercised struct {
	said, heard []map[string]any
	// The server's own lists.
	tools, prompts, templates, resources, can []string
}

// add adds one part of the conversation.
func (e *exercised) add(k *talk) {
	e.said, k.said = append(e.said, k.said...), nil
	for _, m := range k.log {
		e.heard = append(e.heard, m)
		result, _ := m["result"].(map[string]any)
		e.tools = append(e.tools, names(result["tools"], "name")...)
		e.prompts = append(e.prompts, names(result["prompts"], "name")...)
		e.templates = append(e.templates, names(result["resourceTemplates"], "uriTemplate")...)
		e.resources = append(e.resources, names(result["resources"], "uri")...)
		e.can = append(e.can, leaves("", result["capabilities"])...)
	}
}

func names(list any, key string) (out []string) {
	items, _ := list.([]any)
	for _, it := range items {
		about, _ := it.(map[string]any)
		name, _ := about[key].(string)
		out = append(out, name)
	}
	return out
}

// leaves returns the paths to all leaves of capabilities.
func leaves(way string, v any) (out []string) {
	table, _ := v.(map[string]any)
	for key, inner := range table {
		out = append(out, leaves(strings.TrimPrefix(way+"."+key, "."), inner)...)
	}
	if len(table) == 0 && way != "" {
		return []string{way}
	}
	return out
}

// asked reports whether the client sent a request with a parameter that begins with a value.
func (e *exercised) asked(method, key, begins string) bool {
	return slices.ContainsFunc(e.said, func(m map[string]any) bool {
		params, _ := m["params"].(map[string]any)
		value, _ := params[key].(string)
		return m["method"] == method && strings.HasPrefix(value, begins) && (key == "uri" || value == begins)
	})
}

// passed reports whether all these methods were used, by either side.
func (e *exercised) passed(methods ...string) bool {
	return !slices.ContainsFunc(methods, func(method string) bool {
		is := func(m map[string]any) bool { return m["method"] == method }
		return !slices.ContainsFunc(e.said, is) && !slices.ContainsFunc(e.heard, is)
	})
}

// capabilities returns, for each capability of a server, the methods that show it. TestListsInPages
// shows what the server lacks.
func capabilities() map[string][]string {
	return map[string][]string{
		"completions":               {"completion/complete"},
		"logging":                   {"logging/setLevel", "notifications/message"},
		"prompts.listChanged":       {}, // the server never sends it; TestListsInPages does
		"resources.listChanged":     {"notifications/resources/list_changed"},
		"resources.subscribe":       {"resources/subscribe", "resources/unsubscribe", "notifications/resources/updated"},
		"tasks.cancel":              {"tasks/cancel"},
		"tasks.list":                {"tasks/list"},
		"tasks.requests.tools.call": {"tasks/get", "tasks/result"},
		"tools.listChanged":         {"notifications/tools/list_changed"},
	}
}

// check fails for every feature of the server that was not used, and returns how many there are.
func (e *exercised) check(t *testing.T) int {
	t.Helper()
	n := 0
	want := func(list []string, used func(string) bool) {
		sort.Strings(list)
		for _, name := range slices.Compact(list) {
			if n++; !used(name) {
				t.Errorf("the server has %q, and it was not used", name)
			}
		}
	}
	want(e.tools, func(name string) bool { return e.asked("tools/call", "name", name) })
	want(e.prompts, func(name string) bool { return e.asked("prompts/get", "name", name) })
	want(e.resources, func(uri string) bool { return e.asked("resources/read", "uri", uri) })
	want(e.templates, func(uri string) bool {
		begins, _, _ := strings.Cut(uri, "{")
		return e.asked("resources/read", "uri", begins)
	})
	want(e.can, func(name string) bool {
		methods, known := capabilities()[name]
		return known && e.passed(methods...)
	})
	// Further parts of the protocol, and what the server requests from the client.
	want([]string{
		"ping", "notifications/progress", "notifications/cancelled", "notifications/roots/list_changed", "roots/list",
		"sampling/createMessage", "elicitation/create", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
	}, func(method string) bool { return e.passed(method) })
	if len(e.tools) == 0 || len(e.prompts) == 0 || len(e.resources) == 0 || len(e.templates) == 0 || len(e.can) == 0 {
		t.Errorf("the server has listed too little: %+v", *e)
	}
	return n
}
