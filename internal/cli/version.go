package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// A Build identifies this program.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// NewBuild uses the version that the linker set, if any, else what the go command recorded.
func NewBuild(version string, info *debug.BuildInfo) Build {
	b := Build{Version: cmp.Or(version, "unknown")}
	if info == nil {
		return b
	}
	b.Go = info.GoVersion
	if version == "" {
		b.Version = cmp.Or(info.Main.Version, "(devel)")
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "GOOS":
			b.OS = s.Value
		case "GOARCH":
			b.Arch = s.Value
		}
	}
	return b
}

// NewVersion is the command «floodmark version».
func NewVersion(c *Console) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Hidden:  true, // --version says it as well
		Short:   "Show which version this is",
		Long:    "Show the version of this program, what it was built from, and with which Go.",
		Example: "  floodmark version\n  floodmark version --output json",
		Args:    cobra.NoArgs,
		RunE: Guard(func(cmd *cobra.Command, _ []string) error {
			if Format(cmd) == AsJSON {
				return c.JSON(c.Build)
			}
			fmt.Fprintln(c.Stdout, c.Build.Line())
			return nil
		}),
	}
}

// Line returns the version on one line.
func (b Build) Line() string {
	text := "floodmark " + b.Version
	if b.Commit != "" {
		text += " (commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			text += ", modified"
		}
		text += ")"
	}
	if b.Go != "" {
		text += fmt.Sprintf(" %s %s/%s", b.Go, b.OS, b.Arch)
	}
	return text
}
