// Command embedded is an agent with a monitor inside its own process. It has no
// model: a script stands in for one that obeys every page it reads.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"

	"github.com/floodmark/floodmark/embedded"
	"github.com/floodmark/floodmark/guard"
	"github.com/floodmark/floodmark/hook"
)

//go:embed policy.yaml
var policy string

func main() {
	g, err := embedded.Open(os.Args[1], policy)
	if err == nil {
		err = agent(context.Background(), g, os.Stdout)
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
