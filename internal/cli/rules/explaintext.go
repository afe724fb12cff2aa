package rules

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/reports/toolbook"
	"github.com/floodmark/floodmark/internal/rules/whatif"
	"github.com/floodmark/floodmark/internal/text/meaning"
)

// An explanation is the answer for people. names are searched for names similar to an unknown one.
type explanation struct {
	*whatif.Explanation
	names toolbook.Known
}

// printExplanation prints the answer for people.
func printExplanation(c *cli.Console, e *explanation) {
	st := c.OutStyle()
	title := func(text string) { fmt.Fprintf(c.Stdout, "\n%s\n", st.Bold(text)) }
	printTool(c, e, st)
	title("The context")
	fmt.Fprintf(c.Stdout, "  content that is %s (%s) and %s (%s)\n", e.Context.Trust, meaning.Trust(e.Context.Trust), e.Context.Secrecy, meaning.Secrecy(e.Context.Secrecy))
	if e.Owner != "" {
		fmt.Fprintf(c.Stdout, "  the owner typed %q\n", cli.Printable(e.Owner))
	}
	if e.Mark != e.Context {
		fmt.Fprintf(c.Stdout, "  so the session's mark is %s\n", e.Mark)
	}
	if len(e.Arguments) > 0 {
		title("The arguments")
		printArguments(c, e)
	}
	title("The decision: " + cli.VerdictStyle(st, e.decided()))
	printReasons(c, e)
	title("With other content in the context")
	printLevels(c, e, st)
	if advice := e.advice(); len(advice) > 0 {
		title("What you can do")
		for _, line := range advice {
			fmt.Fprintln(c.Stdout, "  "+cli.Printable(line))
		}
	}
}

func printTool(c *cli.Console, e *explanation, st cli.Style) {
	t := e.Tool
	about := t.About
	if !t.Known {
		about = "this tool has no description, so the strictest is assumed"
	}
	fmt.Fprintf(c.Stdout, "%s: %s\n", st.Bold(cli.Printable(cli.ToolTitle(t.ToolRef))), cli.Printable(about))
	for _, e := range t.Effects {
		fmt.Fprintf(c.Stdout, "  effect   %s: it %s\n", e, meaning.Effect(e))
	}
	fmt.Fprintf(c.Stdout, "  returns  %s content (%s), %s (%s)\n", t.Returns.Trust, meaning.Trust(t.Returns.Trust), t.Returns.Secrecy, meaning.Secrecy(t.Returns.Secrecy))
	if t.SelfProtected {
		fmt.Fprintln(c.Stdout, "  guarded  it touches the monitor itself or an agent's hooks")
	}
}

func printArguments(c *cli.Console, e *explanation) {
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	for i, a := range e.Arguments {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", cli.Printable(a.Path), e.shown(i), meaning.Role(a.Role), e.whence(i))
	}
	w.Flush() //nolint:errcheck // an error appears at the next write to standard output
}

// shown returns the part of an argument that a person may see.
func (e *explanation) shown(i int) string {
	a := e.Arguments[i]
	switch {
	case a.Shown != "":
		return cli.Printable(fmt.Sprintf("%q", a.Shown))
	case a.Role == floodmark.Content:
		return "(" + cli.Count(utf8.RuneCountInString(e.Leaves[i].Value), "character", "characters") + ")"
	case e.Leaves[i].Value == "":
		return `""`
	}
	return "(not shown)"
}

// whence says where an argument came from. If the owner used its value without clearly naming it,
// whence says that instead of «the model made it up».
func (e *explanation) whence(i int) string {
	a, leaf := e.Arguments[i], e.Leaves[i]
	if a.Whence != floodmark.Nowhere || leaf.Value == "" || !standsIn(e.Owner, leaf.Value) {
		return meaning.Whence(a)
	}
	switch {
	case a.Role == floodmark.Content:
		return "in the owner's words"
	case leaf.Kind == hook.Number || strings.Trim(leaf.Value, "0123456789.,") == "":
		return "you used this number, but not beside a word for what it is"
	case strings.ContainsFunc(leaf.Value, func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' && r != '-' }):
		return "you wrote this, but inside something longer; write it by itself or in quotes"
	case strings.Contains(leaf.Value, " "):
		return "you used these words, but ordinary words do not name it; write them in quotes"
	}
	return "you used this word, but an ordinary word does not name it; write it in quotes"
}

// standsIn reports whether a text contains a value as whole words.
func standsIn(text, value string) bool {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	for at := 0; ; {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		after, _ := utf8.DecodeRuneInString(text[at+i+len(value):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		at += i + 1
	}
}

// decided explains the verdict in words.
func (e *explanation) decided() string {
	if e.InBox {
		other := "asked"
		if e.Verdict != floodmark.Confirm {
			other = meaning.Verdict(e.Verdict)
		}
		return floodmark.Contain + ": in a box, if the agent can; else " + other
	}
	text := meaning.Verdict(e.Verdict)
	if e.Verdict == floodmark.Allow && len(e.Verifiers) > 0 {
		text += " once every verifier below agrees"
	}
	if e.Would != "" {
		text += "; this policy enforces nothing; otherwise it would be " + e.Would
	}
	return e.Verdict.String() + ", " + text
}

func printReasons(c *cli.Console, e *explanation) {
	if e.Trust != e.Mark.Trust {
		why := "an argument comes from content of that trust"
		if e.Trust > e.Mark.Trust {
			why = "the owner named every argument that matters and asked for it"
		}
		fmt.Fprintf(c.Stdout, "  judged at %s instead of %s: %s\n", e.Trust, e.Mark.Trust, why)
	}
	switch {
	case e.Spared != "":
		fmt.Fprintf(c.Stdout, "  no question, though the session is at %s: %s\n", e.Mark.Trust, cli.Printable(e.Spared))
	case len(e.Reasons) == 0:
		fmt.Fprintf(c.Stdout, "  no objection at %s\n", e.Trust)
	}
	for _, r := range e.Reasons {
		where := r.Rule
		if where == "" {
			where = string(r.Code)
		}
		fmt.Fprintf(c.Stdout, "  %s says %s: %s\n", cli.Printable(where), r.Verdict, cli.Printable(r.Text))
	}
	for _, g := range e.Verifiers {
		fmt.Fprintln(c.Stdout, "  "+cli.Printable(g.String()))
	}
	if e.Unverified {
		fmt.Fprintln(c.Stdout, "  no verifier is asked about it")
	}
}

// levelWidth is the width of a column of verdicts.
const levelWidth = 11

// printLevels shows the verdicts by trust and secrecy, the current one in brackets.
func printLevels(c *cli.Console, e *explanation, st cli.Style) {
	columns := cli.SecrecyWords()
	slices.Reverse(columns)
	printRow(c, st, append([]string{""}, columns...), false)
	for _, row := range e.Levels {
		cells := []string{row.Trust.String()}
		for _, s := range columns {
			word := row.Verdicts[s]
			if slices.Contains(row.InBox, s) {
				word = floodmark.Contain
			}
			if row.Trust == e.Context.Trust && s == e.Context.Secrecy.String() {
				word = "[" + word + "]"
			}
			cells = append(cells, word)
		}
		printRow(c, st, cells, true)
	}
}

// printRow prints cells padded to columns. The padding ignores colour codes.
func printRow(c *cli.Console, st cli.Style, cells []string, verdicts bool) {
	var b strings.Builder
	for i, cell := range cells {
		pad := strings.Repeat(" ", max(0, levelWidth-len(cell)))
		if verdicts && i > 0 {
			cell = cli.VerdictStyle(st, cell)
		}
		b.WriteString(cell + pad)
	}
	fmt.Fprintln(c.Stdout, "  "+strings.TrimRight(b.String(), " "))
}

// advice says what a person can do about a call that is not allowed.
func (e *explanation) advice() []string {
	if e.Verdict == floodmark.Allow && e.Would == "" {
		return nil
	}
	var list []string
	if e.InBox {
		list = append(list, "«floodmark prove» and «floodmark prove --box» try whether this agent and this machine can do it in a box.")
	}
	if e.Remedy.Person != "" {
		list = append(list, e.Remedy.Person)
	}
	for _, row := range slices.Backward(e.Levels) {
		if row.Trust > e.Context.Trust && row.Verdicts[e.Context.Secrecy.String()] == floodmark.Allow.String() {
			way := "begin a new session for it."
			if row.Trust <= floodmark.Local { // trusting content raises it to local at most
				way = "trust the content («floodmark trust»), or begin a new session for it."
			}
			list = append(list, fmt.Sprintf("It would be allowed with nothing below %s in the context: %s", row.Trust, way))
			break
		}
	}
	if !e.Tool.Known {
		if names := e.names.Near3(e.Tool.Name, cli.OwnAgent(e.Tool.Agent), e.Tool.Server); len(names) > 0 {
			list = append(list, "Known tools with a name like this: "+strings.Join(names, ", ")+".")
		}
		list = append(list, "Describe the tool under «tools:» in your policy, if you know what it does.")
	}
	if len(e.Reasons) > 0 && strings.HasPrefix(e.Reasons[0].Rule, "table.") {
		list = append(list, fmt.Sprintf("To always decide otherwise for this tool, name it under «toolOverrides:» in your policy; %s is the cell that decided.", e.Reasons[0].Rule))
	}
	return list
}
