package approval_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// letter is from a place where others write, page from one where anyone can write.
var (
	letter = approval.Origin{Place: "letter.txt", Trust: floodmark.External}
	page   = approval.Origin{Name: "get_page", Place: "news.example", Trust: floodmark.Untrusted}
	inbox  = approval.Origin{Name: "readInbox", Trust: floodmark.External}
)

func arg(path, shown string, w floodmark.Whence, trust floodmark.Trust) floodmark.Argument {
	return floodmark.Argument{Path: path, Role: floodmark.Critical, Whence: w, Trust: trust, Shown: shown}
}

func question(effect floodmark.Effect, args ...floodmark.Argument) approval.Question {
	return approval.Question{Action: floodmark.Action{
		Kind: floodmark.CallTool, Tool: floodmark.ToolRef{Agent: "helper", Name: "act"}, Effects: []floodmark.Effect{effect}, Arguments: args,
	}}
}

func payment() approval.Question {
	q := question(
		floodmark.Send,
		floodmark.Argument{Path: "note", Role: floodmark.Content, Whence: floodmark.Seen, Trust: floodmark.External},
		arg("date", "2026-03-16", floodmark.Nowhere, floodmark.Untrusted),
		arg("recipient", "DE02500105170137075030", floodmark.Seen, floodmark.External),
		arg("amount", "45.50", floodmark.Stated, floodmark.Owner),
	)
	q.Action.Tool.Server, q.About, q.Pays, q.Asked, q.Led = "bank", "moves money; at once", true, "Pay what the letter says", letter
	q.Notes = []approval.Note{{Is: "text", From: letter}, {Is: "when"}, {Is: "destination", Goes: true, From: letter}, {Is: "amount"}}
	return q
}

func same(t *testing.T, name string, got []string, want string) {
	t.Helper()
	if text := strings.Join(got, "\n"); text != strings.TrimSpace(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", name, text, want)
	}
}

// A card names the call, its destinations before everything else, the origin of each value, and the
// consequence.
func TestCardsInWords(t *testing.T) {
	same(t, "a payment", payment().Lines(), `
helper wants to pay “45.50” to “DE02500105170137075030”
You had said: “Pay what the letter says”
With “act” of “bank” (moves money)
Recipient: “DE02500105170137075030”
   from “letter.txt” (written by others)
Date: “2026-03-16” (worked out by the agent)
Amount: “45.50” (your own words)
Text (not shown): from the same place
After a yes: the money goes out and cannot be called back.`)

	q := payment()
	q.Notes[0].From, q.Action.Arguments[0].Trust, q.Beware = page, floodmark.Untrusted, []string{"Look."}
	q.Pick = &approval.Pick{Argument: "recipient", Among: []string{"DE11", "DE02500105170137075030", "DE22"}}
	same(t, "a place to choose", q.Lines(), `
helper wants to pay “45.50” to a place you did not name
You had said: “Pay what the letter says”
With “act” of “bank” (moves money)
Recipient: one of those below
   from “letter.txt” (written by others)
Date: “2026-03-16” (worked out by the agent)
Amount: “45.50” (your own words)
Text (not shown): from “news.example” (anyone can write there)
(!) Look.
After a yes: the money goes out and cannot be called back.`)

	q = question(floodmark.Change, arg("file_id", "13", floodmark.Seen, floodmark.External), arg("password", "", floodmark.Seen, floodmark.External), arg("empty", "", floodmark.Stated, floodmark.Owner))
	q.Led = inbox
	q.Notes = []approval.Note{{Is: "id", From: inbox}, {Is: "secret", From: inbox}, {Empty: true}}
	same(t, "a record", q.Lines(), `
helper wants to create, change or delete something
With “act”
File: “13”
Password: not shown, it may be a secret
   both from “read inbox” (others write there)
After a yes: something others rely on is made, changed or deleted.`)
}

// Values of a list share a line if they came from the same place.
func TestListsOnACard(t *testing.T) {
	var args []floodmark.Argument
	var notes []approval.Note
	for i, w := range []floodmark.Whence{floodmark.Stated, floodmark.Seen, floodmark.Seen, floodmark.Stated} {
		args = append(args, arg(fmt.Sprintf("recipients[%d]", i), fmt.Sprint("p", i), w, floodmark.External))
		notes = append(notes, approval.Note{Goes: true, From: letter})
	}
	q := question(floodmark.Send, args...)
	q.Notes, q.Led = notes, letter
	same(t, "two sorts", q.Lines(), `
helper wants to send something to “p0” and 3 more
With “act”
2 recipients: “p1” and “p2”
   from “letter.txt” (written by others)
2 recipients: “p0” and “p3” (your own words)
After a yes: it goes out and cannot be called back.`)
	for i := 4; i < 9; i++ {
		q.Action.Arguments = append(q.Action.Arguments, arg(fmt.Sprintf("recipients[%d]", i), fmt.Sprint("p", i), floodmark.Stated, floodmark.Owner))
	}
	same(t, "many", q.Lines()[2:5], `
2 recipients: “p1” and “p2”
   from “letter.txt” (written by others)
7 recipients: “p0”, “p3”, “p4”, “p5”, “p6”, “p7” and 1 more (your own words)`)
	if q.Card(false).Hides {
		t.Error("what the owner stated may be left out")
	}
	for i := range q.Action.Arguments {
		q.Action.Arguments[i].Whence = floodmark.Nowhere
	}
	if !q.Card(false).Hides {
		t.Error("three recipients whom nobody stated are left out")
	}
	q.Action.Arguments = q.Action.Arguments[:6]
	if q.Card(false).Hides {
		t.Error("six are shown")
	}
	q.Action.Arguments[2].Shown = "p…"
	same(t, "one is not whole", q.Lines()[2:5], `
5 recipients: “p0”, “p1”, “p3”, “p4” and “p5” (worked out by the agent)
Recipient: “p…” (worked out by the agent)
   (!) not all of it is shown`)
	q = question(floodmark.Send, arg("files[0].file_id", "11", floodmark.Nowhere, 0), arg("files[0].type", "doc", floodmark.Nowhere, 0), arg("files[1].file_id", "7", floodmark.Nowhere, 0))
	same(t, "the same", question(floodmark.Send, arg("x[0]", "v", floodmark.Nowhere, 0), arg("x[1]", "v", floodmark.Nowhere, 0)).Lines()[2:3], "2 x: each “v” (worked out by the agent)")
	same(t, "things in a list", q.Lines()[2:4], `
“2 file files”: “11” and “7” (worked out by the agent)
“File 1 type”: “doc” (worked out by the agent)`)
}

// A card has room for six arguments, a brief one for two. The least trusted come first, and a
// left-out value that matters is mentioned.
func TestWhatACardLeavesOut(t *testing.T) {
	var q approval.Question
	for _, want := range []struct{ n, lines, brief int }{{2, 5, 4}, {3, 6, 5}, {6, 9, 5}, {7, 10, 5}} {
		q = question(floodmark.Write)
		for i := range want.n {
			q.Action.Arguments = append(q.Action.Arguments, arg(fmt.Sprint("x", i), "v", floodmark.Stated, floodmark.Owner))
		}
		if c := q.Card(true); len(q.Lines()) != want.lines || len(c.Body) != want.brief || c.Hides {
			t.Errorf("%+v: %q and %v", want, q.Lines(), c)
		}
	}
	q.Action.Arguments[6].Whence, q.Action.Arguments[6].Trust = floodmark.Nowhere, floodmark.Untrusted
	if got := q.Lines(); got[2] != "X6: “v” (worked out by the agent)" || got[8] != "(1 more not shown here)" || q.Card(false).Hides {
		t.Errorf("%q", got)
	}
	for i := range q.Action.Arguments {
		q.Action.Arguments[i].Whence = floodmark.Nowhere
	}
	if !q.Card(false).Hides {
		t.Error("one that the agent chose is hidden")
	}
	q.Action.Arguments[0].Role = floodmark.Content
	if q.Card(false).Hides {
		t.Error("a text may be left out")
	}
	q.Pick = &approval.Pick{Argument: "x0", Words: "type"}
	if got := q.Lines(); got[2] != "X0: “v” (worked out by the agent)" {
		t.Errorf("what has to be typed comes first: %q", got)
	}
}

// The words for a value's origin.
func TestWhereValuesComeFrom(t *testing.T) {
	for name, c := range map[string]struct {
		a    floodmark.Argument
		n    approval.Note
		want string
	}{
		"a page":      {arg("x", "v", floodmark.Seen, floodmark.Untrusted), approval.Note{From: page}, "   from “news.example” (anyone can write there)"},
		"shared":      {arg("x", "v", floodmark.Seen, floodmark.Shared), approval.Note{From: approval.Origin{Name: "wall", Trust: floodmark.Shared}}, "   from “wall” (shared with others)"},
		"own":         {arg("x", "v", floodmark.Seen, floodmark.Local), approval.Note{From: approval.Origin{Place: "my.txt", Trust: floodmark.Local}}, "   from “my.txt” (your own)"},
		"unknown":     {arg("x", "v", floodmark.Seen, floodmark.External), approval.Note{}, "   from what it read, not from you"},
		"unknown own": {arg("x", "v", floodmark.Seen, floodmark.Local), approval.Note{}, "   from what it read of yours"},
		"lower":       {arg("x", "v", floodmark.Seen, floodmark.Untrusted), approval.Note{From: letter}, "   from what it read, not from you"},
		"in pieces": {
			floodmark.Argument{Path: "x", Role: floodmark.Critical, Whence: floodmark.Seen, Trust: floodmark.External, Shown: "v", Pieced: true},
			approval.Note{From: letter},
			"   from parts of “letter.txt” (written by others)",
		},
		"cut":        {arg("x", "v", floodmark.Stated, floodmark.Owner), approval.Note{Cut: true}, "   (!) not all of it is shown"},
		"look-alike": {arg("x", "pαypal", floodmark.Stated, floodmark.Owner), approval.Note{}, "   (!) has look-alike letters of another alphabet"},
	} {
		q := question(floodmark.Write, c.a)
		q.Notes = []approval.Note{c.n}
		if got := q.Lines(); len(got) != 5 || got[3] != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// An address that the agent composed is shown only in its command. An address that was read
// elsewhere is also named separately.
func TestAddressesInACommand(t *testing.T) {
	line, address := arg("command", "curl https://x.example/in", floodmark.Nowhere, 0), arg("url of the command", "https://x.example/in", floodmark.Nowhere, 0)
	for want, args := range map[int][]floodmark.Argument{
		4: {line, address},
		5: {arg("command", "curl $(cat it)", floodmark.Nowhere, 0), address},
		6: {line, arg("url of the command", "https://x.example/in", floodmark.Seen, floodmark.External)},
		3: {{Path: "url of the command", Role: floodmark.Content}},
	} {
		if got := question(floodmark.Run, args...).Lines(); len(got) != want {
			t.Errorf("%q, want %d lines", got, want)
		}
	}
	if got := question(floodmark.Run, address, line, address, arg("url of the command", "", floodmark.Nowhere, 0)).Lines(); len(got) != 6 {
		t.Errorf("%q", got)
	}
}

// What led to a call is said once, and nothing unknown is made up.
func TestWhatLedToACall(t *testing.T) {
	q := question(floodmark.Run, arg("command", "make", floodmark.Nowhere, floodmark.Untrusted))
	q.Led = page
	if got := q.Lines(); len(got) != 5 || got[3] != "It had read “news.example” (anyone can write there)" || q.SourceWords() != "“news.example” (anyone can write there)" {
		t.Errorf("%q", got)
	}
	q.Led, q.Source = approval.Origin{}, "something"
	if got := q.Lines(); len(got) != 5 || got[3] != "It had read: “something”" || q.SourceWords() != "the agent itself" {
		t.Errorf("%q", got)
	}
	q.Source, q.Line = "", "page -> run"
	if got := q.Lines(); len(got) != 5 || got[3] != "“page -> run”" {
		t.Errorf("%q", got)
	}
	q.Consequence = "known"
	if got := q.Lines(); len(got) != 4 {
		t.Errorf("%q", got)
	}
	text := floodmark.Argument{Path: "body", Role: floodmark.Content, Whence: floodmark.Seen, Trust: floodmark.Untrusted}
	q = question(floodmark.Send, text)
	q.Led, q.Notes = page, []approval.Note{{Is: "text", From: page}}
	if got := q.Lines(); len(got) != 4 || got[2] != "Text (not shown): from “news.example” (anyone can write there)" {
		t.Errorf("%q", got)
	}
	for whence, want := range map[floodmark.Whence]string{floodmark.Nowhere: "written by the agent", floodmark.Stated: "your own words"} {
		q.Action.Arguments[0].Whence = whence
		if got := q.Lines(); len(got) != 5 || got[2] != "Text (not shown): "+want {
			t.Errorf("%q", got)
		}
	}
	for _, n := range []approval.Note{{Is: "flag"}, {Is: "text", Empty: true}} {
		q.Notes[0] = n
		if got := q.Lines(); len(got) != 4 {
			t.Errorf("%q", got)
		}
	}
}

// Each effect has words for what the call does and for its consequence.
func TestDeeds(t *testing.T) {
	for effect, want := range map[floodmark.Effect][2]string{
		floodmark.Admin: {"change what it may do or obey", "It changes the agent itself, what it obeys, or this monitor."},
		floodmark.Run:   {"run a program", "Code runs on your machine with your rights."},
		floodmark.Send:  {"send something to others", "It goes out and cannot be called back."},
		floodmark.Write: {"write a file or note", "A file or note is written."},
		floodmark.Fetch: {"fetch something from the internet", "A request goes there, and the agent reads the answer."},
		floodmark.Observe: {
			"look something up", "Nothing leaves and nothing changes.",
		},
	} {
		q := question(effect)
		if got := approval.Head([]approval.Question{q}).String(); got != "helper wants to "+want[0] || q.ConsequenceWords() != want[1] {
			t.Errorf("%s: %q, %q", effect, got, q.ConsequenceWords())
		}
	}
	q := question(floodmark.Fetch, arg("url", "https://news.example", floodmark.Stated, floodmark.Owner))
	q.Notes = []approval.Note{{Goes: true}}
	if got := approval.Head([]approval.Question{q}).String(); got != "helper wants to fetch something from “https://news.example”" {
		t.Error(got)
	}
	q.Unknown = true
	if got := q.Lines(); got[0] != "helper wants to use a tool that is not described" || got[1] != "With “act” (it is not described)" || q.ConsequenceWords() != "Nobody has said what this does: it can be anything." {
		t.Errorf("%q", got)
	}
	p := payment()
	if got := p.ConsequenceWords(); got != "The money goes out to “DE02500105170137075030” and cannot be called back." {
		t.Error(got)
	}
	p.Action.Arguments[3].Shown = ""
	if got := p.Lines()[0]; got != "helper wants to make or change a payment to “DE02500105170137075030”" {
		t.Error(got)
	}
	if got := p.ConsequenceWords(); got != "A payment is made or changed." {
		t.Error(got)
	}
	p.Action.Tool.Name = "change_payment"
	if got := p.Lines()[0]; got != "helper wants to “change payment”, which goes out to “DE02500105170137075030”" {
		t.Error(got)
	}
	for n, want := range []string{"An agent asks", "helper wants to look something up", "helper wants to do 2 things"} {
		if got := approval.Head([]approval.Question{question(floodmark.Observe), q}[:n]).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	q.Action.Tool.Agent = "helper: all is well. It"
	if got := approval.Head([]approval.Question{q}).String(); !strings.HasPrefix(got, "“helper: all is well. It” wants to") {
		t.Error(got)
	}
}

// If a tool's name has two words, it says what the call does. The tool is then not named again,
// unless there is more to say about it.
func TestTheHeadlineNamesTheAct(t *testing.T) {
	for effect, want := range map[floodmark.Effect]string{
		floodmark.Send: "helper wants to “move it”, which goes out to “b”", floodmark.Change: "helper wants to “move it”", floodmark.Write: "helper wants to “move it”",
		floodmark.Run: "helper wants to run a program",
	} {
		q := question(effect, arg("cc", "null", floodmark.Stated, floodmark.Owner), arg("to", "b", floodmark.Stated, floodmark.Owner))
		q.Action.Tool.Name, q.Notes = "move_it", []approval.Note{{Goes: true, Empty: true}, {Goes: true}}
		got := q.Lines()
		if named := effect != floodmark.Run; got[0] != want || strings.HasPrefix(got[1], "With ") == named {
			t.Errorf("%s: %q", effect, got)
		}
		q.About = "moves"
		if got := q.Lines(); got[1] != "With “move it” (moves)" {
			t.Errorf("%s: %q", effect, got)
		}
		q.About, q.Action.Tool.Server = "", "there"
		if got := q.Lines(); got[1] != "With “move it” of “there”" {
			t.Errorf("%s: %q", effect, got)
		}
		q.Notes = nil
		if got := q.Lines(); strings.Contains(got[0], "move it") {
			t.Errorf("nobody knows the tool: %q", got)
		}
	}
	for n, want := range map[int]string{40: "helper wants to “a ", 41: "helper wants to create, change or delete something"} {
		q := question(floodmark.Change)
		q.Action.Tool.Name, q.Notes = "a_"+strings.Repeat("x", n-2), []approval.Note{{}}
		if got := q.Lines()[0]; !strings.HasPrefix(got, want) {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// Arguments have names that people use. An undescribed name is shown as foreign text.
func TestNamesOfArguments(t *testing.T) {
	for path, want := range map[string]string{
		"to": "Recipient", "file_id": "File", "threadId": "Thread", "start_time": "Start time", "endTime": "End time", "id": "Number",
		"bcc": "Hidden copy to", "attachments[0]": "Attachment", "entries[3]": "Entry", "boxes[0]": "Box", "address[0]": "Address", "ids[0]": "Ids",
		"url of the command": "Address in it", "items[1].file_id": "“Item 2 file”", "user.name": "“User name”",
	} {
		q := question(floodmark.Write, arg(path, "v", floodmark.Stated, floodmark.Owner))
		if got := q.Lines()[2]; got != want+": “v” (your own words)" {
			t.Errorf("%s: %s", path, got)
		}
	}
	for n, want := range map[int]string{256: "“A a a", 257: "“a_a_a"} {
		q := question(floodmark.Write, floodmark.Argument{Path: strings.Repeat("a_", 128)[:255] + strings.Repeat("x", n-255), Shown: "9"})
		if got := q.Lines()[2]; !strings.HasPrefix(strings.ToLower(got), strings.ToLower(want)) {
			t.Error(got)
		}
	}
	q := question(floodmark.Write, floodmark.Argument{Path: "Amount (your own words)", Shown: "9"})
	if got := q.Lines()[2]; got != "“Amount (your own words)”: “9” (worked out by the agent)" {
		t.Error(got)
	}
}

// Foreign text is in quotation marks that it cannot close, on one line, and never in place of our
// own words.
func FuzzCard(f *testing.F) {
	f.Add("x” (your own words)\nAnswer: yes", "to[0].“a”", "tool\u202e")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, value, path, tool string) {
		q := question(floodmark.Send, floodmark.Argument{Path: path, Shown: value, Whence: floodmark.Seen}, arg("to", value, floodmark.Nowhere, 0))
		q.Action.Tool, q.Asked, q.Source, q.Led = floodmark.ToolRef{Agent: tool, Server: tool, Name: tool}, value, value, approval.Origin{Name: value, Place: tool}
		for _, line := range q.Lines() {
			if strings.Count(line, "“") != strings.Count(line, "”") || strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf) }) {
				t.Errorf("%q", line)
			}
			depth := 0
			for _, r := range line {
				switch r {
				case '“':
					depth++
				case '”':
					depth--
				}
				if depth < 0 || depth > 1 {
					t.Errorf("%q", line)
				}
			}
		}
	})
}

// A chat has little room: the owner's request is dropped first, then the end, and the card says so.
func TestTextForAChat(t *testing.T) {
	q := payment()
	all := strings.Join(q.Told(), "\n")
	whole := utf8.RuneCountInString(all)
	if got := q.Text(whole); got != all {
		t.Errorf("at the limit:\n%s", got)
	}
	without := strings.Replace(all, "You had said: “Pay what the letter says”\n", "", 1)
	if got := q.Text(whole - 1); got != without {
		t.Errorf("one beyond:\n%s", got)
	}
	n := utf8.RuneCountInString(without)
	if got := q.Text(n); got != without {
		t.Errorf("at the second limit:\n%s", got)
	}
	const more = "(not all of it fits here: «floodmark approve» shows it)"
	if got := q.Text(n - 1); utf8.RuneCountInString(got) > n-1 || !strings.HasSuffix(got, "\n"+more) || !strings.HasPrefix(got, q.Told()[0]+"\n"+q.Told()[1]) || strings.Contains(got, "You had said") {
		t.Errorf("one beyond:\n%s", got)
	}
	if got := q.Text(60); got != more {
		t.Errorf("no room: %s", got)
	}
	q.Asked = ""
	if got := q.Text(n - 1); !strings.HasPrefix(got, strings.Join(q.Told()[:2], "\n")) {
		t.Errorf("nothing was said: %s", got)
	}
	q.Action.Arguments[1].Shown = strings.Repeat("x", n)
	if got := q.Text(n - 1); !strings.HasPrefix(got, q.Lines()[0]+"\n") || !strings.HasSuffix(got, more) {
		t.Errorf("a line that has no room: %s", got)
	}
}
