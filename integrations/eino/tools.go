package eino

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/guard"
	"github.com/floodmark/floodmark/hook"
)

// MaxStreamBytes bounds a streamed result. The model gets no part of it before all of it was
// reported to the monitor.
const MaxStreamBytes = hook.MaxEventBytes / 2

// run has the monitor decide one call, runs it, and reports its result. The tool gets a copy of the
// judged call.
func run(ctx context.Context, in *compose.ToolInput, tool func(context.Context, *compose.ToolInput) (string, error)) (string, error) {
	s, err := guard.From(ctx)
	if err != nil {
		return "", err
	}
	judged := *in
	call := hook.Call{ID: floodmark.CallID(in.CallID), Name: in.Name, Args: arguments(in.Arguments)}
	return s.Run(ctx, call, func(ctx context.Context) (string, error) { return tool(ctx, &judged) })
}

func invokable(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
	return func(ctx context.Context, in *compose.ToolInput) (*compose.ToolOutput, error) {
		text, err := run(ctx, in, func(ctx context.Context, in *compose.ToolInput) (string, error) {
			out, err := next(ctx, in)
			if err != nil {
				return "", err
			}
			return out.Result, nil
		})
		if line, ok := said(err); ok {
			return &compose.ToolOutput{Result: line}, nil
		}
		if err != nil {
			return nil, err
		}
		return &compose.ToolOutput{Result: text}, nil
	}
}

func streamable(next compose.StreamableToolEndpoint) compose.StreamableToolEndpoint {
	return func(ctx context.Context, in *compose.ToolInput) (*compose.StreamToolOutput, error) {
		text, err := run(ctx, in, func(ctx context.Context, in *compose.ToolInput) (string, error) {
			out, err := next(ctx, in)
			if err != nil {
				return "", err
			}
			chunks, err := collect(out.Result, func(s string) int { return len(s) })
			return strings.Join(chunks, ""), err
		})
		if line, ok := said(err); ok {
			text, err = line, nil
		}
		if err != nil {
			return nil, err
		}
		return &compose.StreamToolOutput{Result: schema.StreamReaderFromArray([]string{text})}, nil
	}
}

func enhancedInvokable(next compose.EnhancedInvokableToolEndpoint) compose.EnhancedInvokableToolEndpoint {
	return func(ctx context.Context, in *compose.ToolInput) (*compose.EnhancedInvokableToolOutput, error) {
		result, err := enhanced(ctx, in, func(ctx context.Context, in *compose.ToolInput) (*schema.ToolResult, error) {
			out, err := next(ctx, in)
			if err != nil {
				return nil, err
			}
			return out.Result, nil
		})
		if err != nil {
			return nil, err
		}
		return &compose.EnhancedInvokableToolOutput{Result: result}, nil
	}
}

func enhancedStreamable(next compose.EnhancedStreamableToolEndpoint) compose.EnhancedStreamableToolEndpoint {
	return func(ctx context.Context, in *compose.ToolInput) (*compose.EnhancedStreamableToolOutput, error) {
		result, err := enhanced(ctx, in, func(ctx context.Context, in *compose.ToolInput) (*schema.ToolResult, error) {
			out, err := next(ctx, in)
			if err != nil {
				return nil, err
			}
			chunks, err := collect(out.Result, func(r *schema.ToolResult) int { return len(asJSON(r)) })
			if err != nil {
				return nil, err
			}
			return schema.ConcatToolResults(chunks)
		})
		if err != nil {
			return nil, err
		}
		return &compose.EnhancedStreamableToolOutput{Result: schema.StreamReaderFromArray([]*schema.ToolResult{result})}, nil
	}
}

// enhanced is like run, for results of several parts. They are reported as the model will get them.
func enhanced(ctx context.Context, in *compose.ToolInput, tool func(context.Context, *compose.ToolInput) (*schema.ToolResult, error)) (*schema.ToolResult, error) {
	var result *schema.ToolResult
	_, err := run(ctx, in, func(ctx context.Context, in *compose.ToolInput) (string, error) {
		var err error
		if result, err = tool(ctx, in); err != nil {
			return "", err
		}
		parts, err := result.ToMessageInputParts()
		if err != nil {
			return "", err
		}
		return partsText(parts), nil
	})
	if line, ok := said(err); ok {
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: line}}}, nil
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// collect reads a stream to its end.
func collect[T any](r *schema.StreamReader[T], size func(T) int) ([]T, error) {
	defer r.Close()
	var all []T
	for total := 0; ; {
		chunk, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if total += size(chunk); total > MaxStreamBytes {
			return nil, fmt.Errorf("the tool's result is over %d bytes", MaxStreamBytes)
		}
		all = append(all, chunk)
	}
}

// asJSON returns a value as JSON, without escapes for HTML, which would hide addresses.
func asJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "unreadable: " + err.Error()
	}
	return b.String()
}
