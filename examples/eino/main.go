// Command eino is an agent built with Eino that asks a running daemon. Its model
// is a script that obeys every page it reads.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/guard"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/integrations/eino"
)

const instruction = "You help the owner."

func main() {
	c, err := client.Dial(os.Args[1], client.Options{}) // the path of hook.sock
	if err == nil {
		err = agent(context.Background(), c, os.Stdout)
	}
	if err != nil {
		fmt.Println("stopped:", err)
		os.Exit(1)
	}
}

func agent(ctx context.Context, j guard.Judge, out io.Writer) error {
	s, err := guard.Start(ctx, j, guard.Options{Agent: "helper"})
	if err != nil {
		return err
	}
	if _, err := s.Said(ctx, task); err != nil {
		return err
	}
	ctx = guard.With(ctx, s)
	a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "helper", Description: "helps the owner", Instruction: instruction, Model: &script{out: out},
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools()}},
		Middlewares: []adk.AgentMiddleware{eino.Middleware(eino.Options{Instructions: []string{instruction}})},
	})
	if err != nil {
		return err
	}
	for events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a}).Query(ctx, task); ; {
		ev, more := events.Next()
		if !more {
			break
		}
		if ev.Err != nil {
			return ev.Err
		}
	}
	answer, err := s.Emit(ctx, hook.ToOwner, "Anna knows that nothing is new.")
	fmt.Fprintln(out, answer)
	return err
}
