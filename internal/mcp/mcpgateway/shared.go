package mcpgateway

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/format/strictjson"
)

// What one client says to a shared server may reach any other client. The monitor is told that the
// server is shared with every event about it, and before anything but a call reaches it. The
// server's notifications are taken in even if models usually do not read them.

// about marks an event as one about this server.
func (r *relay) about(ev hook.Event) hook.Event {
	if r.o.Shared {
		ev.Shared = r.o.Server
	}
	return ev
}

// give tells the monitor that the client is about to send the server something besides a call. After
// an error it must not be sent.
func (r *relay) give(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), judgeTime)
	defer cancel()
	reply, err := r.o.Session.tell(ctx, r.about(hook.Event{Point: hook.ContextAssembled, Agent: Agent, Given: true}))
	if err == nil && reply.Allows() {
		return nil
	}
	if err != nil {
		r.o.Note("something was not given to the server: " + floodmark.OneLine(err.Error(), maxNote))
	}
	return denied(refusal(reply, err))
}

// gives reports whether a request that is not judged gives a shared server something. A request for
// a list without a cursor does not, nor does a request that never reaches the server.
func gives(m *jsonrpc.Request) bool {
	switch m.Method {
	case initialize, "ping", "logging/setLevel", "resources/unsubscribe":
		return false
	case listTools, listPrompts, listTemplates, listResources, "tasks/list":
		return paged(m.Params)
	}
	return true
}

// tells reports whether a notification says more than that something happened.
func tells(m *jsonrpc.Request) bool {
	switch m.Method {
	case cancelled, toolsChanged, promptsChanged, "notifications/resources/list_changed":
		return false
	case progress:
		list, err := strictjson.Members(m.Params)
		return err != nil || !json.Valid(m.Params) || !strictjson.IsNull(strictjson.Value(list, "message"))
	}
	return true
}

// goneLine is the answer to calls that were open when a server ended.
func (r *relay) goneLine() string {
	name := floodmark.OneLine(r.o.Server, maxQuoted)
	if r.o.Restarts {
		return "floodmark: the server " + name + " ended before it answered. It may or may not have done what was asked: check, then call again; the next call restarts it."
	}
	return "floodmark: the server " + name + " is gone. Go on without it, or ask the owner to start it again."
}
