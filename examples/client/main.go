// Command client is an agent that asks a running daemon. It has no model: a
// script stands in for one that obeys every page it reads.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/guard"
	"github.com/floodmark/floodmark/hook"
)

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
	tools := map[string]func(context.Context, args) (string, error){
		"web_fetch":  guard.Tool(s, "web_fetch", webFetch),
		"read_notes": guard.Tool(s, "read_notes", readNotes),
		"send_email": guard.Tool(s, "send_email", sendEmail),
	}
	for _, call := range script {
		result, err := tools[call.tool](ctx, call.args)
		if err != nil {
			result = err.Error() // the model reads why, and goes on
		}
		fmt.Fprintf(out, "%s: %s\n", call.tool, result)
	}
	answer, err := s.Emit(ctx, hook.ToOwner, "Anna knows that nothing is new.")
	fmt.Fprintln(out, answer)
	return err
}
