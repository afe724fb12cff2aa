package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// framesMain asks as an agent's hook program does. Each line of a file has the agent, its event and
// its message.
func framesMain() {
	if err := sendFrames(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sendFrames(socket, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		agent, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		event, message, ok := strings.Cut(rest, " ")
		if !ok {
			continue
		}
		conn, err := new(net.Dialer).DialContext(context.Background(), "unix", socket)
		if err != nil {
			return err
		}
		got, err := hookframe.Ask(conn, hookframe.Request{
			V: hookframe.Version, Agent: agent, Event: event, Raw: []byte(message), DeadlineMS: 10_000,
		})
		if err != nil {
			return err
		}
		fmt.Println(event, got.Exit, got.Stdout, got.Stderr)
	}
	return nil
}
