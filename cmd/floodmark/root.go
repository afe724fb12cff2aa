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
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/asking"
	"github.com/floodmark/floodmark/internal/cli/fleetcli"
	"github.com/floodmark/floodmark/internal/cli/mcpcli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/internal/cli/rules"
	"github.com/floodmark/floodmark/internal/cli/setup"
	"github.com/floodmark/floodmark/internal/text/spelling"
)

// run runs one command line and returns its exit code. A panic is a bug of ours; it is reported as
// a sentence without a stack.
func run(ctx context.Context, c *cli.Console, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = c.Report(nil, cli.Broken(fmt.Errorf("%v", r)))
		}
	}()
	if c.Shipped == nil {
		c.Shipped = sync.OnceValues(catalog.Shipped)
	}
	out := &cli.Sink{To: c.Stdout}
	c.Stdout = out
	root := newRoot(c)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if out.Err != nil {
		err = cli.Refuse("check that there is room where it goes", "write standard output: %s", cli.Reason(out.Err))
	}
	return c.Report(cmd, err)
}

// newRoot builds the tree of all commands.
func newRoot(c *cli.Console) *cobra.Command {
	root := &cobra.Command{
		Use:   "floodmark",
		Short: "A reference monitor for AI agents",
		Long: `Floodmark stands beside an AI agent. It remembers where every piece of content
came from and decides before each tool call what the agent may still do.

This program runs that monitor, shows what it saw and why something was held, and
takes your answers. It also checks and explains policies, plays stories that test
them, and shows what is known about tools.`,
		Example: `  floodmark up
  floodmark status
  floodmark watch
  floodmark why
  floodmark policy check floodmark.yaml
  floodmark policy explain exec --agent openclaw --trust untrusted`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = c.Build.Line()
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "show which version this is")
	root.SetFlagErrorFunc(flagError)
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	cli.AddOutput(root, true, cli.AsText, cli.AsJSON)
	root.PersistentFlags().BoolVar(&c.NoColor, "no-color", false, "never colour the text (so does the environment variable NO_COLOR)")
	grouped(root, "run", "Start and stop", setup.NewUp(c), setup.NewDown(c), setup.NewStatus(c), setup.NewDoctor(c))
	grouped(root, "agents", "Protect agents", setup.NewProtect(c), setup.NewUnprotect(c), setup.NewProve(c), mcpcli.NewMCP(c))
	grouped(root, "answer", "Every day", asking.NewOpen(c), asking.NewWatch(c), asking.NewWhy(c), asking.NewApprove(c), asking.NewDeny(c), asking.NewTrust(c), asking.NewUndo(c), asking.NewPause(c))
	dev := newDev(c)
	grouped(root, "more", "Rules, records, many machines", rules.NewPolicy(c), records.NewJournal(c), newFleet(c), dev)
	root.AddCommand(setup.NewServe(c), cli.NewVersion(c))
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	nestCompletion(root, dev)
	finish(root)
	addMoved(root)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(cmd.OutOrStdout(), helpText(cmd, c.OutStyle()))
	})
	return root
}

// newFleet is the command «floodmark fleet».
func newFleet(c *cli.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Belong to a fleet, or run one",
		Long: `Make this laptop a machine of your company's fleet, log in there as yourself, and,
if you run a fleet, let agents, people and laptops in and hand out signed rules.`,
		Example: `  floodmark fleet join https://floodmark.firm.example:7443
  floodmark fleet login https://floodmark.firm.example:7443
  floodmark fleet token create build-agent`,
	}
	cmd.AddCommand(fleetcli.NewJoin(c), fleetcli.NewLeave(c), fleetcli.NewLogin(c), fleetcli.NewLogout(c), fleetcli.NewMachines(c), rules.NewBundle(c), fleetcli.NewToken(c))
	return cmd
}

// newDev is the command «floodmark dev».
func newDev(c *cli.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Read the log, install the service by hand, complete words in shells",
		Long: `Commands for people who operate or develop: the service that «floodmark up» uses, what
the monitor itself said, the question that an agent's hook would ask, and completion.
«floodmark serve» runs the monitor in the foreground, as service managers start it.`,
		Example: `  floodmark dev logs
  floodmark dev service show`,
	}
	cmd.AddCommand(setup.NewService(c), setup.NewLogs(c), newHook(c), newMan(c))
	return cmd
}

// nestCompletion moves cobra's command «completion» below dev.
func nestCompletion(root, dev *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			root.RemoveCommand(cmd)
			dev.AddCommand(cmd)
			return
		}
	}
}

// moved maps a command to the commands that are below it now and were once at the top.
func moved() map[string]string {
	return map[string]string{
		"fleet":   "bundle join leave login logout machines token",
		"journal": "coverage graph report sessions show stats",
		"policy":  "catalog grants replay suggest test tools",
		"dev":     "completion hook logs man service",
		"undo":    "clean",
	}
}

// addMoved adds commands with the old names that only print the new name.
func addMoved(root *cobra.Command) {
	now := map[string]string{"endorse": "trust", "pending": "approve"}
	for parent, names := range moved() {
		for name := range strings.FieldsSeq(names) {
			now[name] = parent + " " + name
		}
	}
	for old, to := range now {
		root.AddCommand(&cobra.Command{
			Use: old, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return &cli.Failure{Code: cli.ExitUsage, Text: "«floodmark " + old + "» is called «floodmark " + to + "» now"}
			},
		})
	}
}

// grouped adds commands as one group.
func grouped(root *cobra.Command, id, title string, list ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, cmd := range list {
		cmd.GroupID = id
		root.AddCommand(cmd)
	}
}

// finish adapts the help of cobra's own commands, and makes each group of commands refuse unknown
// words.
func finish(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.InitDefaultHelpFlag()
	if f := cmd.Flags().Lookup("help"); f != nil {
		f.Usage = "show this help"
	}
	switch cmd.CommandPath() {
	case "floodmark dev completion":
		cmd.Short = "Print the script that completes commands in your shell"
		cmd.Long = "Print a script that teaches your shell to complete the commands, flags and values\nof floodmark. The help of each shell says where to put it."
		cmd.Example = "  source <(floodmark dev completion bash)\n  floodmark dev completion zsh > \"${fpath[1]}/_floodmark\""
	case "floodmark dev completion bash", "floodmark dev completion zsh", "floodmark dev completion fish", "floodmark dev completion powershell":
		cmd.Short = "Print the script for " + cmd.Name()
		cmd.Long = strings.ReplaceAll(cmd.Long, "floodmark completion", "floodmark dev completion")
		cmd.Example = "  " + completionUse(cmd.Name())
	}
	for _, sub := range cmd.Commands() {
		finish(sub)
	}
	if cmd.HasSubCommands() && cmd.RunE == nil {
		cmd.Args, cmd.RunE = cli.GroupArgs, cli.Guard(func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	}
}

// completionUse returns the command that loads or installs a shell's completion script.
func completionUse(shell string) string {
	switch shell {
	case "zsh":
		return `floodmark dev completion zsh > "${fpath[1]}/_floodmark"`
	case "fish":
		return "floodmark dev completion fish > ~/.config/fish/completions/floodmark.fish"
	case "powershell":
		return "floodmark dev completion powershell | Out-String | Invoke-Expression"
	}
	return "source <(floodmark dev completion bash)"
}

// flagError adds the most similar flag to cobra's message for an unknown flag.
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

// notHere returns why the program does not run on a system; empty if it does. Windows does not tell
// which process is connected to a socket, so an approval could come from an agent.
func notHere(system string) string {
	if system != "windows" {
		return ""
	}
	return "floodmark: Windows is not supported: install Floodmark and your agents inside WSL (wsl --install), and run it there"
}
