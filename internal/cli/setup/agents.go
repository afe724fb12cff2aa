package setup

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/integrations"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/wire"
)

// An AgentReport is one agent on this machine, for programs. Fields are only added.
type AgentReport struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Program string `json:"program,omitempty"`
	Version string `json:"version,omitempty"`
	// State is open, protected, changed or unreadable.
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
	// Measured is the version that Covered and Holes are about.
	Measured string              `json:"measured"`
	Covered  []string            `json:"covered"`
	Holes    []integrations.Hole `json:"holes"`
	Warnings []string            `json:"warnings,omitempty"`
	// Proof is the last result of «floodmark prove»; missing if it was never run.
	Proof *prove.Proof `json:"proof,omitempty"`
}

// Agents returns the agents on this machine.
func Agents(ctx context.Context, c *cli.Console, p cli.Place) ([]AgentReport, error) {
	m, err := c.Machine(p)
	if err != nil {
		return nil, err
	}
	return agentsOn(ctx, c, m, p)
}

// agentsOn is Agents for a given machine.
func agentsOn(ctx context.Context, c *cli.Console, m protect.Machine, p cli.Place) ([]AgentReport, error) {
	covers, err := integrations.Covers()
	if err != nil {
		return nil, err
	}
	paths, err := c.Paths(p)
	if err != nil {
		return nil, err
	}
	proofs, unread := prove.Proofs(paths.Proofs)
	checks, _ := prove.Checked(paths.Checked) // an unreadable file is replaced within a day
	var list []AgentReport
	for _, f := range m.List(ctx) {
		cover := covers[f.Name]
		a := AgentReport{
			Name: f.Name, Title: f.Title, Program: f.Program, Version: f.Version, State: string(f.State), Why: f.Why,
			Measured: cover.Measured, Covered: cover.Covered, Holes: cover.Holes, Warnings: warnings(f, cover),
		}
		if proof, is := proofs[f.Name]; is {
			a.Proof = &proof
		}
		if w := unproved(f, m.Since(f.Name), a.Proof, unread, p); w != "" {
			a.Warnings = append(a.Warnings, w)
		} else if w := doubted(f, m.Since(f.Name), a.Proof, checks, p); w != "" {
			a.Warnings = append(a.Warnings, w)
		}
		list = append(list, a)
	}
	return list, nil
}

// boxable returns the protected ones of these agents.
func boxable(agents []AgentReport) (list []prove.Boxable) {
	for _, a := range agents {
		if a.State == string(protect.Protected) {
			list = append(list, prove.Boxable{Name: a.Name, Title: a.Title, Version: a.Version, Proof: a.Proof, Off: prove.Unboxable(a.Name, os.Getuid())})
		}
	}
	return list
}

// warnings returns why the list of what is covered may be wrong for the installed version.
func warnings(f protect.Found, cover integrations.Cover) (list []string) {
	switch {
	case f.Program != "" && f.Version == "":
		list = append(list, "its version could not be told, so what we say about it may be wrong")
	case protect.Newer(f.Version, cover.Measured):
		list = append(list, "it is newer than "+cover.Measured+", the last version that was measured: what we say about it may be wrong")
	case f.Version != "" && protect.Newer(cover.Measured, f.Version):
		list = append(list, "it is older than "+cover.Measured+", the version that was measured: what we say about it may be wrong")
	}
	if f.Protected != "" && f.Version != "" && f.Protected != f.Version {
		list = append(list, "it was "+f.Protected+" when it was protected")
	}
	if !cover.Run {
		list = append(list, "what we say about it is from its documentation; it was not run by us")
	}
	return list
}

// unproved returns why the last proof of a protected agent does not apply to the installed agent;
// empty if it does.
func unproved(f protect.Found, since time.Time, last *prove.Proof, unread error, where cli.Place) string {
	again := "«floodmark prove " + f.Name + where.Flags() + "»"
	switch {
	case f.State != protect.Protected:
		return ""
	case unread != nil:
		return "whether it was proved cannot be read; " + again + " tries it"
	case last == nil:
		return "it was never proved here; " + again + " tries it"
	case last.At.Before(since):
		return "it was protected again since it was proved; " + again + " tries it again"
	case last.Version == "" && f.Version != "":
		return "its version was not known when it was proved; " + again + " tries it again"
	case last.Version != f.Version && f.Version != "":
		return "it was updated since it was proved; " + again + " tries it again"
	case last.Grade != prove.HostVerified && last.Grade != prove.AdapterVerified:
		return "its last proof failed; " + again + " tries it again"
	}
	return ""
}

// doubted returns what the monitor's daily check found after the last proof; empty if nothing.
func doubted(f protect.Found, since time.Time, last *prove.Proof, checks prove.Checks, where cli.Place) string {
	found, is := checks.Agents[f.Name]
	if !is || found.Kind == "" || f.State != protect.Protected || last == nil || !checks.At.After(last.At) || !checks.At.After(since) {
		return ""
	}
	return "the monitor's own check of " + cli.Stamp(timestamppb.New(checks.At)) + " found: " + found.Why + "; «floodmark prove " + f.Name + where.Flags() + "» tries it again"
}

// AgentsText lists the agents for people; nothing if there is none.
func AgentsText(p *cli.Sheet, list []AgentReport, where cli.Place) {
	if len(list) == 0 {
		return
	}
	p.Title("Agents")
	for _, a := range list {
		text, paint := agentState(a, where, p.St)
		p.Painted(2, strings.TrimSpace(a.Title+" "+a.Version)+": "+text, paint)
		if a.State == string(protect.Open) {
			continue
		}
		for _, one := range a.Covered {
			p.Line(4, "+ "+one)
		}
		for _, h := range a.Holes {
			p.Line(4, "- not covered: "+h.Text)
		}
		for _, w := range a.Warnings {
			p.Painted(4, "! "+w, p.St.Yellow)
		}
	}
}

func agentState(a AgentReport, where cli.Place, st cli.Style) (string, func(string) string) {
	again := "«floodmark protect " + a.Name + where.Flags() + "»"
	switch protect.State(a.State) {
	case protect.Protected:
		return "protected", st.Green
	case protect.Changed:
		return "no longer as it was protected: " + a.Why + "; " + again + " shows what to mend", st.Red
	case protect.Unreadable:
		return "its settings cannot be read: " + a.Why, st.Red
	case protect.Open:
	}
	return "not protected; " + again + " does it", st.Yellow
}

// checkAgents checks how the agents find the monitor. A process that can set an agent's variables
// must not be able to choose another monitor.
func checkAgents(ctx context.Context, c *cli.Console, p cli.Place) []cli.Finding {
	m, err := c.Machine(p)
	if err != nil {
		return []cli.Finding{cli.Wrong("agents", "", "%s", err)}
	}
	var list []cli.Finding
	for _, f := range m.List(ctx) {
		check, again := "agent "+f.Title, "floodmark protect "+f.Name+p.Flags()
		switch bad := checkWords(check, "its hooks start", f.Hooks); {
		case f.State == protect.Unreadable:
			list = append(list, cli.Wrong(check, "mend it: then «"+again+"»", "%s", f.Why))
		case bad != nil:
			list = append(list, *bad)
		case f.State == protect.Changed:
			list = append(list, cli.Wrong(check, again, "%s", f.Why))
		case f.State == protect.Protected:
			list = append(list, cli.OK(check, "protected, in %s", f.Folder))
		default:
			list = append(list, cli.Note(check, again, "not protected"))
		}
	}
	return list
}

// checkWords checks the programs that settings start. starts is the beginning of the error text.
func checkWords(check, starts string, words []string) *cli.Finding {
	for _, word := range words {
		info, err := os.Stat(word)
		var f cli.Finding
		switch {
		case !filepath.IsAbs(word):
			f = cli.Wrong(check, "write its full path, or let «floodmark protect» do it", "%s «%s», which is found by PATH: an agent that sets PATH chooses the program", starts, word)
		case err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0:
			f = cli.Wrong(check, "install it there, or let «floodmark protect» write where it is", "%s %s, which is not a program: every call is refused", starts, word)
		case info.Mode().Perm()&0o022 != 0:
			f = cli.Wrong(check, "chmod go-w "+cli.ShellWord(word), "%s %s, to which others may write", starts, word)
		default:
			continue
		}
		return &f
	}
	return nil
}

// FleetAgents returns a function that lists the agents here for reports to a fleet. It does not run
// an agent's program to find its version: an agent could have replaced the program, and as a child
// of the monitor it would not be recognized as started by an agent.
func FleetAgents(c *cli.Console, p cli.Place) func(context.Context) []*wire.MachineAgent {
	if p.System {
		return nil // the agents belong to other users
	}
	return func(ctx context.Context) []*wire.MachineAgent {
		m, err := c.Machine(p)
		if err != nil {
			return nil // unreadable agents are not reported
		}
		m.Still = true
		found, err := agentsOn(ctx, c, m, p)
		if err != nil {
			return nil // as above
		}
		var list []*wire.MachineAgent
		for _, a := range found {
			one := &wire.MachineAgent{Name: a.Name, Version: cli.Plain(cli.Shorten(a.Version)), State: a.State}
			for _, h := range a.Holes {
				one.Uncovered = append(one.Uncovered, h.Text)
			}
			list = append(list, one)
		}
		return list
	}
}
