package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// intro is the beginning of the page. The tables of fields and methods below it are generated, so
// they are always right; this text is not, so keep figures out of it.
const intro = `<!-- Written by go generate from api/floodmark/v1. Change the description, not this page. -->

# Hook API

An agent, or whatever stands beside it, tells Floodmark what is about to happen
and is told what it may do. One handler speaks Connect, gRPC and gRPC-Web, so
everything from curl to a generated client will do. The description itself is in
[api/floodmark/v1](../../api/floodmark/v1).

` + "```sh" + `
curl --unix-socket "$XDG_RUNTIME_DIR/floodmark/hook.sock" \
  -H 'Content-Type: application/json' \
  -d '{"point": "before_tool_call", "agent": "mine", "session": "s1",
       "call": {"name": "send_mail", "args": {"to": "anna@firm.example"}}}' \
  http://floodmark/floodmark.v1.HookService/Handle
` + "```" + `

Where ` + "`XDG_RUNTIME_DIR`" + ` is not set, the socket is ` + "`~/.local/state/floodmark/run/hook.sock`" + `.

## Rules

- **Anything but a reply with the verdict ` + "`allow`" + ` means no.** So do no answer, a
  late one, an HTTP status other than 200, and an answer you cannot read.
- Events and the owner's calls use different sockets. Over TCP there is TLS 1.3
  with a token (` + "`Authorization: Bearer fm_agent_…`" + `) or an admitted client
  certificate, and nothing else. An agent's token sends events and can do
  nothing that an owner does.
- JSON names are those in the tables. Fields we do not know are refused, in JSON.
  Numbers of 64 bits are strings in JSON, as protobuf has it; reading takes both.
- Requests are sent as they are: compressed ones are refused.
- Give a deadline (` + "`Connect-Timeout-Ms`" + `, ` + "`grpc-timeout`" + `). The refusal for a
  deadline that would pass leaves a little before it.
- A call that is not permitted is answered by the error ` + "`permission_denied`" + `, one by
  nobody known by ` + "`unauthenticated`" + `. Both are written to the journal.
`

// hookPage returns the reference of the API: services first, then messages.
func hookPage(described *protogen.Plugin) (string, error) {
	var services []*protogen.Service
	var messages []*protogen.Message
	for _, f := range described.Files {
		if f.Generate {
			services = append(services, f.Services...)
			messages = append(messages, f.Messages...)
		}
	}
	var b strings.Builder
	b.WriteString(intro)
	for _, s := range services {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.Desc.Name(), prose(s.Comments))
		for _, m := range s.Methods {
			needs, err := permission(m)
			if err != nil {
				return "", err
			}
			stream := ""
			if m.Desc.IsStreamingServer() {
				stream = "a stream of "
			}
			fmt.Fprintf(&b, "\n### %s\n\n`POST /%s/%s` takes %s and answers %s%s. It needs the permission `%s`.\n\n%s\n",
				m.Desc.Name(), s.Desc.FullName(), m.Desc.Name(), link(m.Input), stream, link(m.Output), needs, prose(m.Comments))
		}
	}
	b.WriteString("\n## Messages\n")
	slices.SortFunc(messages, func(a, b *protogen.Message) int { return strings.Compare(string(a.Desc.Name()), string(b.Desc.Name())) })
	for _, m := range messages {
		fmt.Fprintf(&b, "\n### Message %s\n\n%s\n", m.Desc.Name(), prose(m.Comments))
		if len(m.Fields) > 0 {
			b.WriteString("\n| Field | Type | Meaning |\n|---|---|---|\n")
		}
		for _, f := range m.Fields {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Desc.JSONName(), typeOf(f), strings.ReplaceAll(prose(f.Comments), "\n", " "))
		}
	}
	return b.String(), nil
}

// needsField is the number of the option (floodmark.v1.needs).
const needsField = 50615

// permission reads the option from its bytes, because this program cannot use the code that it
// generates.
func permission(m *protogen.Method) (string, error) {
	raw := m.Desc.Options().ProtoReflect().GetUnknown()
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			break
		}
		if number == needsField && kind == protowire.BytesType {
			word, _ := protowire.ConsumeString(raw[n:])
			return word, nil
		}
		size := protowire.ConsumeFieldValue(number, kind, raw[n:])
		if size < 0 {
			break
		}
		raw = raw[n+size:]
	}
	return "", fmt.Errorf("method %s does not say what it needs", m.Desc.FullName())
}

func prose(c protogen.CommentSet) string {
	var lines []string
	for line := range strings.Lines(string(c.Leading)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func link(m *protogen.Message) string {
	return fmt.Sprintf("[%s](#message-%s)", m.Desc.Name(), strings.ToLower(string(m.Desc.Name())))
}

func typeOf(f *protogen.Field) string {
	t := f.Desc.Kind().String()
	if f.Message != nil {
		t = link(f.Message)
		if f.Message.Desc.FullName() == "google.protobuf.Timestamp" {
			t = "time"
		}
	}
	switch {
	case f.Desc.Cardinality() == protoreflect.Repeated:
		return "list of " + t
	case f.Oneof != nil && !f.Oneof.Desc.IsSynthetic():
		return t + ", one of these"
	case f.Oneof != nil:
		return t + ", may be missing"
	}
	return t
}
