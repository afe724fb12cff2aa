package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/spelling"
)

// run runs one command line and returns its exit code. A panic is our own bug:
// people get a sentence, not a stack.
func run(ctx context.Context, c *console, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = c.report(nil, broken(fmt.Errorf("%v", r)))
		}
	}()
	if c.shipped == nil {
		c.shipped = sync.OnceValues(catalog.Shipped)
	}
	out := &sink{to: c.stdout}
	c.stdout = out
	root := newRoot(c)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if out.err != nil {
		err = refuse("check that there is room where it goes", "write standard output: %s", reason(out.err))
	}
	return c.report(cmd, err)
}

// newRoot builds the whole tree of commands by plain calls.
func newRoot(c *console) *cobra.Command {
	root := &cobra.Command{
		Use:   "floodmark",
		Short: "A reference monitor for AI agents",
		Long: `Floodmark stands beside an AI agent. It remembers where every piece of content
came from and decides before each tool call what the agent may still do.

This program runs that monitor, shows what it saw and why something was held, and
takes your answers. It also checks and explains policies, plays stories that test
them, shows what is known about tools, and measures protection on recorded attacks.`,
		Example: `  floodmark serve
  floodmark protect
  floodmark watch
  floodmark why SESSION
  floodmark policy check floodmark.yaml
  floodmark policy explain exec --agent openclaw --trust untrusted
  floodmark catalog show`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = c.build.line()
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "show which version this is")
	root.SetFlagErrorFunc(flagError)
	root.SetIn(c.stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	addOutput(root, true, asText, asJSON)
	root.PersistentFlags().BoolVar(&c.noColor, "no-color", false, "never colour the text (so does the environment variable NO_COLOR)")
	grouped(root, "run", "Run the monitor", newServe(c), newProtect(c), newUnprotect(c), newProve(c), newStatus(c), newDoctor(c), newService(c), newHook(c), newMCP(c), newToken(c))
	grouped(root, "look", "See what happened", newSessions(c), newShow(c), newWhy(c), newGraph(c), newWatch(c), newCoverage(c), newJournal(c), newReplay(c), newStats(c), newSuggest(c))
	grouped(root, "answer", "Answer", newPending(c), newApprove(c), newDeny(c), newEndorse(c), newUndo(c), newClean(c), newTrust(c), newGrants(c), newPause(c))
	grouped(root, "rules", "Write and test rules", newPolicy(c), newTest(c), newCatalog(c), newBench(c))
	grouped(root, "fleet", "Belong to a fleet", newLogin(c), newLogout(c), newJoin(c), newLeave(c), newMachines(c), newBundle(c))
	root.AddCommand(newVersion(c), newMan(c))
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	finish(root)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(cmd.OutOrStdout(), helpText(cmd, c.outStyle()))
	})
	return root
}

// grouped adds commands that people look for together.
func grouped(root *cobra.Command, id, title string, list ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, cmd := range list {
		cmd.GroupID = id
		root.AddCommand(cmd)
	}
}

// finish gives cobra's own commands what every command of ours has, and makes
// each group of commands refuse words it does not know.
func finish(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.InitDefaultHelpFlag()
	if f := cmd.Flags().Lookup("help"); f != nil {
		f.Usage = "show this help"
	}
	switch cmd.CommandPath() {
	case "floodmark completion":
		cmd.Short = "Print the script that completes commands in your shell"
		cmd.Long = "Print a script that teaches your shell to complete the commands, flags and values\nof floodmark. The help of each shell says where to put it."
		cmd.Example = "  source <(floodmark completion bash)\n  floodmark completion zsh > \"${fpath[1]}/_floodmark\""
	case "floodmark completion bash", "floodmark completion zsh", "floodmark completion fish", "floodmark completion powershell":
		cmd.Short = "Print the script for " + cmd.Name()
		cmd.Example = "  " + completionUse(cmd.Name())
	}
	for _, sub := range cmd.Commands() {
		finish(sub)
	}
	if cmd.HasSubCommands() && cmd.RunE == nil {
		cmd.Args, cmd.RunE = groupArgs, guard(func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	}
}

// completionUse is how the script of a shell is used.
func completionUse(shell string) string {
	switch shell {
	case "zsh":
		return `floodmark completion zsh > "${fpath[1]}/_floodmark"`
	case "fish":
		return "floodmark completion fish > ~/.config/fish/completions/floodmark.fish"
	case "powershell":
		return "floodmark completion powershell | Out-String | Invoke-Expression"
	}
	return "source <(floodmark completion bash)"
}

// groupArgs refuses a word that is none of the group's commands.
func groupArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if guesses := cmd.SuggestionsFor(args[0]); len(guesses) > 0 {
		text += "; did you mean " + either(guesses) + "?"
	}
	return errors.New(text)
}

// one puts an article before a word.
func one(what string) string {
	if strings.ContainsRune("AEIO", rune(what[0])) {
		return "an " + what
	}
	return "a " + what
}

// needs accepts exactly one argument, called what.
func needs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("%s needs %s", cmd.CommandPath(), one(what))
		case len(args) > 1:
			return fmt.Errorf("%s takes one %s; %q is too many", cmd.CommandPath(), what, args[1])
		}
		return nil
	}
}

// flagError adds the nearest flag to cobra's message for an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if guess := spelling.Nearest(unknown.GetSpecifiedName(), names, 1); len(guess) > 0 {
		return fmt.Errorf("%w; did you mean --%s?", err, guess[0])
	}
	return err
}

// notHere says why the program does not run on a system; empty where it does.
// On Windows nobody can say who is at a socket, so nobody's yes would count.
func notHere(system string) string {
	if system != "windows" {
		return ""
	}
	return "floodmark: Windows is not supported: install Floodmark and your agents inside WSL (wsl --install), and run it there"
}
