package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/floodmark/floodmark/internal/cli"
)

// newHelp returns a help command that, unlike cobra's own, fails for an unknown command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Hidden:  true, // the last line of each help says how to read another
		Short:   "Show help for a command",
		Long:    "Show the help of a command. «floodmark COMMAND --help» shows the same.",
		Example: "  floodmark help policy check",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return cli.GroupArgs(about, rest)
			}
			if about.Hidden && about.DisableFlagParsing { // an old name
				return about.RunE(about, nil)
			}
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, sub := range about.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, sub.Name()+"\t"+sub.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

const allExits = "0  it worked\n1  the answer is no, a story failed, a problem was found, or no monitor runs\n" + cli.CommonExits

// exitText returns the text about exit codes in a command's help.
func exitText(cmd *cobra.Command) string {
	if text, ok := cmd.Annotations[cli.ExitKey]; ok {
		return text
	}
	if cmd.HasParent() {
		return "0  it worked\n" + cli.CommonExits
	}
	return allExits
}

// A section is one titled part of a command's help.
type section struct{ title, text string }

// sections returns the parts of a command's help in order. The reference pages and the manual are
// written from the same parts.
func sections(cmd *cobra.Command) []section {
	var list []section
	add := func(title, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			list = append(list, section{title, text})
		}
	}
	add("Usage", useLine(cmd))
	add("Commands", commandList(cmd))
	add("Examples", outdent(cmd.Example))
	add("Flags", flagList(cmd.NonInheritedFlags()))
	add("Global flags", flagList(cmd.InheritedFlags()))
	add("Exit codes", exitText(cmd))
	return list
}

// helpText returns the help of a command for a terminal.
func helpText(cmd *cobra.Command, st cli.Style) string {
	var b strings.Builder
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	b.WriteString(strings.TrimSpace(about) + "\n")
	for _, s := range sections(cmd) {
		b.WriteString("\n" + st.Bold(s.title) + "\n" + cli.Indent(s.text, "  ") + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nRun «%s COMMAND --help» to read more about a command.\n", cmd.CommandPath())
	}
	return b.String()
}

func useLine(cmd *cobra.Command) string {
	switch {
	case cmd.Annotations[cli.BothKey] != "":
		return cmd.UseLine() + "\n" + cmd.CommandPath() + " COMMAND"
	case cmd.HasAvailableSubCommands():
		return cmd.CommandPath() + " COMMAND"
	}
	return cmd.UseLine()
}

// commandList lists the subcommands of a command, by group if it has groups.
func commandList(cmd *cobra.Command) string {
	var b strings.Builder
	by := ""
	if len(cmd.Groups()) > 0 {
		by = "  "
	}
	list := func(group string) {
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group && sub.IsAvailableCommand() {
				fmt.Fprintf(&b, "%s%-*s  %s\n", by, cmd.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	for _, g := range cmd.Groups() {
		b.WriteString(g.Title + "\n")
		list(g.ID)
		b.WriteByte('\n')
	}
	list("")
	return b.String()
}

func flagList(flags *pflag.FlagSet) string {
	return outdent(flags.FlagUsagesWrapped(cli.HelpWidth - 2))
}

// outdent removes the two spaces before each line of examples and flags.
func outdent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(line, "  "), " ")
	}
	return strings.Join(lines, "\n")
}
