package main

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type echoArgs struct {
	Text string `json:"text"`
}

type largeArgs struct {
	Bytes int `json:"bytes"`
}

// serve runs the server of tools. Its tool echo returns the given text, and its tool large
// returns as many bytes as asked for.
func serve(ctx context.Context) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "says it again"}, func(_ context.Context, _ *mcp.CallToolRequest, in echoArgs) (*mcp.CallToolResult, any, error) {
		return say(in.Text), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "large", Description: "says much"}, func(_ context.Context, _ *mcp.CallToolRequest, in largeArgs) (*mcp.CallToolResult, any, error) {
		return say(strings.Repeat("much ado about nothing at all. ", in.Bytes/31+1)[:in.Bytes]), nil, nil
	})
	return s.Run(ctx, &mcp.StdioTransport{})
}

func say(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// proxy runs a proxy in the place of the gateway that decides nothing: it reads every
// message with the library and forwards it. If before is not nil, it is called before a
// message is forwarded.
func proxy(ctx context.Context, command []string, before func(jsonrpc.Message) error) error {
	if len(command) == 0 {
		return errors.New("no command")
	}
	client, err := (&mcp.StdioTransport{}).Connect(ctx)
	if err != nil {
		return err
	}
	server, err := (&mcp.CommandTransport{Command: exec.CommandContext(ctx, command[0], command[1:]...)}).Connect(ctx)
	if err != nil {
		return err
	}
	done := make(chan error, 2)
	pump := func(from, to mcp.Connection) {
		for {
			m, err := from.Read(ctx)
			if err == nil && before != nil {
				err = before(m)
			}
			if err == nil {
				err = to.Write(ctx, m)
			}
			if err != nil {
				done <- err
				return
			}
		}
	}
	go pump(client, server)
	go pump(server, client)
	err = <-done
	err = errors.Join(err, server.Close(), client.Close())
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
