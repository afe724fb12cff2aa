// Package eino guards agents that are built with CloudWeGo's Eino. Its middleware tells a Floodmark
// monitor what the model is about to see and which calls it proposes, and lets a tool run only
// after an allow. It judges nothing.
//
// Sessions come with the context: run the agent with [guard.With]. Without one nothing runs.
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

// Options say what of an agent's context is the program's own.
type Options struct {
	// Instructions are what the program itself wrote of the system message: the
	// agent's Instruction, and what other middlewares add. A system message that
	// holds anything else is not believed: another agent may have left it in a
	// placeholder.
	Instructions []string
}

// Middleware returns what guards an agent. Put it last into Middlewares, so that
// no other changes a call after it was decided, and into every agent of a
// system: a sub-agent without it is not guarded.
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

// census is all that the model would see, without what this session said
// itself: the refusals of former calls.
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

// wrote reports whether a text is made of nothing but the program's own. Eino
// puts line breaks between the parts.
func (o Options) wrote(text string) bool {
	parts := slices.Clone(o.Instructions)
	slices.SortFunc(parts, func(a, b string) int { return len(b) - len(a) }) // one may begin another
	for _, part := range parts {
		if part != "" {
			text = strings.ReplaceAll(text, part, "\n")
		}
	}
	return strings.TrimSpace(text) == ""
}

// proposed tells which calls the last answer of the model holds.
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

// textOf is a message as one text. Parts that are no text count as well: what
// is not known of them is not believed.
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

// partsText is a result of several parts as one text.
func partsText(parts []schema.MessageInputPart) string {
	switch {
	case len(parts) == 0:
		return ""
	case len(parts) == 1 && parts[0].Type == schema.ChatMessagePartTypeText:
		return parts[0].Text
	}
	return asJSON(parts)
}

// arguments are a call's arguments as the model wrote them.
func arguments(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// said returns the text a model reads instead of a result. A turn that must end
// and a result that is withheld end the run.
func said(err error) (string, bool) {
	no, denied := errors.AsType[*guard.Denied](err)
	if !denied || no.BlockTurn {
		return "", false
	}
	return no.Error(), true
}
