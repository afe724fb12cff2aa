package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
)

// newMan is the command «floodmark dev man», for packages. It is hidden, because people read
// «--help».
func newMan(c *cli.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the pages of the manual",
		Long:    "Write one compressed page of section 1 for each command into a folder, for a package.",
		Example: "  floodmark dev man ./man1",
		Hidden:  true,
		Args:    cli.Needs("FOLDER"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			dir := c.Path(args[0])
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return cli.Refuse("check that you may write there", "make the folder %s: %s", dir, cli.Reason(err))
			}
			return writeManual(c, cmd.Root(), dir)
		}),
	}
}

// writeManual writes the pages of a command and of its subcommands.
func writeManual(c *cli.Console, cmd *cobra.Command, dir string) error {
	data, err := packedText(manPage(cmd))
	if err != nil {
		return err
	}
	path := filepath.Join(dir, manName(cmd)+".1.gz")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return cli.Refuse("check that you may write there", "write %s: %s", path, cli.Reason(err))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "serve" { // «serve» is hidden, but operators look it up
			if err := writeManual(c, sub, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// packedText compresses a text for man. It adds no time and no name, so that the same text gives
// the same bytes.
func packedText(text string) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the manual page of a command, from the same parts as its help.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	b.WriteString(".TH \"" + strings.ToUpper(manName(cmd)) + "\" 1 \"\" \"Floodmark\" \"Floodmark\"\n.nh\n.ad l\n")
	b.WriteString(".SH NAME\n" + roff(manName(cmd)) + " \\- " + roff(lowerFirst(cmd.Short)) + "\n")
	if cmd.Long != "" {
		b.WriteString(".SH DESCRIPTION\n")
		for p := range strings.SplitSeq(strings.TrimSpace(cmd.Long), "\n\n") {
			b.WriteString(".PP\n" + roff(p) + "\n")
		}
	}
	for _, s := range sections(cmd) {
		b.WriteString(".SH " + strings.ToUpper(s.title) + "\n.nf\n" + roff(s.text) + "\n.fi\n")
	}
	if cmd.HasParent() {
		b.WriteString(".SH SEE ALSO\n.BR " + roff(manName(cmd.Parent())) + " (1)\n")
	}
	return b.String()
}

// lowerFirst makes the first letter small, as usual in the NAME section.
func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// roff escapes text that the formatter would read as commands.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
