// Package eino guards agents that are built with CloudWeGo's Eino. Its middleware reports to a
// Floodmark monitor what the model is about to see and which calls it proposes, and runs a tool
// only if the monitor allows the call. The package makes no decisions itself.
//
// The session is taken from the context: run the agent with [guard.With]. Without a session, the
// model is not asked and no tool runs.
package eino

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/guard"
	"github.com/floodmark/floodmark/hook"
)

// Options say which part of an agent's context the program itself wrote.
type Options struct {
	// Instructions are the parts of the system message that the program itself wrote: the agent's
	// Instruction, and what other middlewares add. A system message that contains anything else is
	// not trusted, because another agent may have put it into a placeholder.
	Instructions []string
}

// Middleware returns the middleware that guards an agent. Put it last into Middlewares, so that no
// other one changes a call after the decision. Put it into every agent of a system, because a
// sub-agent without it is not guarded.
func Middleware(o Options) adk.AgentMiddleware {
	return adk.AgentMiddleware{
		BeforeChatModel: func(ctx context.Context, state *adk.ChatModelAgentState) error {
			s, err := guard.From(ctx)
			if err != nil {
				return err
			}
			_, err = s.BeforeModel(ctx, census(s, o, state.Messages), nil)
			return err
		},
		AfterChatModel: proposed,
		WrapToolCall: compose.ToolMiddleware{
			Invokable:          invokable,
			Streamable:         streamable,
			EnhancedInvokable:  enhancedInvokable,
			EnhancedStreamable: enhancedStreamable,
		},
	}
}

// census returns everything that the model would see, except the refusals of earlier calls, which
// this session wrote itself.
func census(s *guard.Session, o Options, messages []adk.Message) []hook.Content {
	var all []hook.Content
	for _, m := range messages {
		text := textOf(m)
		if text == "" || m.Role == schema.Tool && s.Ours(text) {
			continue
		}
		c := hook.Content{Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromUnknown, Name: string(m.Role)}, Text: text}
		switch m.Role {
		case schema.System:
			c.Kind = floodmark.NodeSystemPrompt
			if o.wrote(text) {
				c.Origin = floodmark.Origin{Kind: floodmark.FromSystem}
			}
		case schema.Assistant:
			c.Kind, c.Origin = floodmark.NodeLLMCall, floodmark.Origin{Kind: floodmark.FromModel}
		case schema.Tool:
			c.Kind, c.Origin = floodmark.NodeToolResult, floodmark.Origin{Kind: floodmark.FromTool, Name: m.ToolName}
		case schema.User:
		}
		all = append(all, c)
	}
	return all
}

// wrote reports whether a text consists only of the program's own instructions and the line breaks
// that Eino puts between them.
func (o Options) wrote(text string) bool {
	parts := slices.Clone(o.Instructions)
	slices.SortFunc(parts, func(a, b string) int { return len(b) - len(a) }) // a part may be the beginning of another
	for _, part := range parts {
		if part != "" {
			text = strings.ReplaceAll(text, part, "\n")
		}
	}
	return strings.TrimSpace(text) == ""
}

// proposed reports the calls in the last answer of the model.
func proposed(ctx context.Context, state *adk.ChatModelAgentState) error {
	s, err := guard.From(ctx)
	if err != nil {
		return err
	}
	if len(state.Messages) == 0 {
		return nil
	}
	var calls []hook.Call
	for _, c := range state.Messages[len(state.Messages)-1].ToolCalls {
		calls = append(calls, hook.Call{ID: floodmark.CallID(c.ID), Name: c.Function.Name, Args: arguments(c.Function.Arguments)})
	}
	return s.AfterModel(ctx, calls)
}

// textOf returns a message as one text. Parts that are not text are included as JSON, so that they
// are not trusted more than text.
func textOf(m adk.Message) string {
	text := m.Content + partsText(m.UserInputMultiContent)
	if len(m.AssistantGenMultiContent) > 0 {
		text += asJSON(m.AssistantGenMultiContent)
	}
	if old := m.MultiContent; len(old) > 0 { // deprecated, and still sent to models
		text += asJSON(old)
	}
	return text
}

// partsText returns a result of several parts as one text.
func partsText(parts []schema.MessageInputPart) string {
	switch {
	case len(parts) == 0:
		return ""
	case len(parts) == 1 && parts[0].Type == schema.ChatMessagePartTypeText:
		return parts[0].Text
	}
	return asJSON(parts)
}

// arguments returns a call's arguments as the model wrote them, or nil if there are none.
func arguments(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// said returns the text that the model gets instead of the result of a denied call. It returns
// false if the run must end: for any other error, and if the turn is blocked.
func said(err error) (string, bool) {
	no, denied := errors.AsType[*guard.Denied](err)
	if !denied || no.BlockTurn {
		return "", false
	}
	return no.Error(), true
}
