package setup

import (
	"fmt"
	"os"
	"strings"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/protect"
)

// A serverReport is one MCP server of a client, for programs. Fields are only added.
type serverReport struct {
	Client string `json:"client"`
	Name   string `json:"name"`
	File   string `json:"file"`
	// Path is through, direct, remote or unknown.
	Path string `json:"path"`
	// Settled says that the entry needs no change.
	Settled bool   `json:"settled"`
	Why     string `json:"why,omitempty"`
}

func serverReportOf(client string, s protect.Server) serverReport {
	return serverReport{client, s.Name, s.File, string(s.Path), s.Settled, s.Why}
}

// A clientReport is one program that uses MCP servers. Fields are only added.
type clientReport struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Through is how many of its servers go through the gateway.
	Through int            `json:"through"`
	Servers []serverReport `json:"servers"`
	// Why says why its settings cannot be read; empty if they can.
	Why string `json:"why,omitempty"`

	programs []string // the programs by which its entries call the gateway
}

// clients returns the clients on this machine with their MCP servers.
func clients(c *cli.Console, p cli.Place) ([]clientReport, error) {
	if p.System {
		return nil, nil // each user has clients of their own
	}
	m, err := c.Machine(p)
	if err != nil {
		return nil, err
	}
	var list []clientReport
	for _, client := range m.Servers() {
		r := clientReport{Name: client.Name, Title: client.Title, Servers: []serverReport{}, Why: client.Why}
		for _, s := range client.Servers {
			r.Servers = append(r.Servers, serverReportOf(client.Name, s))
			if s.Path == protect.Through {
				r.Through++
			}
			if s.Program != "" {
				r.programs = append(r.programs, s.Program)
			}
		}
		if len(r.Servers) > 0 || r.Why != "" {
			list = append(list, r)
		}
	}
	return list, nil
}

// clientsText lists the clients for people; nothing if there are none.
func clientsText(p *cli.Sheet, list []clientReport, where cli.Place, home string) {
	if len(list) == 0 {
		return
	}
	p.Title("MCP servers")
	for _, c := range list {
		again := "«floodmark protect --mcp " + c.Name + where.Flags() + "»"
		if c.Why != "" {
			p.Painted(2, c.Title+": its settings cannot be read: "+c.Why, p.St.Red)
			continue
		}
		paint := p.St.Green
		if c.Through < len(c.Servers) {
			paint = p.St.Yellow
		}
		p.Painted(2, fmt.Sprintf("%s: %d of %s through the gateway", c.Title, c.Through, cli.Count(len(c.Servers), "server goes", "servers go")), paint)
		for _, s := range c.Servers {
			at := cli.Printable(s.Name) + " in " + fromHome(s.File, home)
			switch {
			case s.Path == string(protect.Direct):
				p.Line(4, "- not covered: "+at+": "+s.Why+"; "+again+" changes that")
			case s.Path != string(protect.Through):
				p.Line(4, "- not covered: "+at+": "+s.Why)
			case !s.Settled:
				p.Painted(4, "! "+at+" is not as we would write it; "+again+" shows what to mend", p.St.Yellow)
			}
		}
	}
}

// uncoveredText lists the servers that are not reached through the gateway even after a plan.
func uncoveredText(st cli.Style, plan *protect.Plan) string {
	if len(plan.Uncovered) == 0 {
		return ""
	}
	p := &cli.Sheet{St: st}
	p.Title("Not covered")
	for _, u := range plan.Uncovered {
		p.Line(2, "- "+u.Title+": "+cli.Printable(u.Server.Name)+": "+u.Why)
	}
	p.B.WriteByte('\n')
	return p.String()
}

// sayNoServers says why no server has to be changed.
func sayNoServers(c *cli.Console, f protectFlags, plan *protect.Plan) {
	switch {
	case f.undo:
		c.Say("nothing to do: no MCP server goes through the gateway")
	case len(plan.Agents) == 0:
		var names []string
		for _, a := range protect.Clients() {
			names = append(names, a.Name)
		}
		c.Say("nothing to do: no client was found here that names MCP servers and that we know (%s)", strings.Join(names, ", "))
	default:
		fmt.Fprint(c.Stdout, uncoveredText(c.OutStyle(), plan))
		c.Say("nothing to do: all of %s that can go through the gateway does", titles(plan))
	}
}

// projects returns the folders given with --project.
func projects(c *cli.Console, f protectFlags) ([]string, error) {
	var list []string
	for _, name := range f.projects {
		if !f.mcp {
			return nil, cli.Refuse("add --mcp", "--project says where MCP servers are named besides a person's own files")
		}
		dir := c.Path(name)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, cli.Refuse("name the folder of a project", "there is no folder %s", dir)
		}
		list = append(list, dir)
	}
	return list, nil
}

// checkServers checks how clients start the gateway. If the program in an entry is gone, the client
// starts nothing.
func checkServers(c *cli.Console, p cli.Place) []cli.Finding {
	clients, err := clients(c, p)
	if err != nil {
		return []cli.Finding{cli.Wrong("MCP servers", "", "%s", err)}
	}
	var list []cli.Finding
	for _, r := range clients {
		check, again := "MCP servers of "+r.Title, "floodmark protect --mcp "+r.Name+p.Flags()
		var direct, unsettled, beside []string
		for _, s := range r.Servers {
			switch {
			case s.Path == string(protect.Direct):
				direct = append(direct, s.Name)
			case s.Path != string(protect.Through):
				beside = append(beside, s.Name)
			case !s.Settled:
				unsettled = append(unsettled, s.Name)
			}
		}
		switch bad := checkWords(check, "an entry starts", r.programs); {
		case r.Why != "":
			list = append(list, cli.Wrong(check, "mend it: then «"+again+"»", "%s", r.Why))
		case bad != nil:
			bad.Todo = again
			list = append(list, *bad)
		case len(unsettled) > 0:
			list = append(list, cli.Wrong(check, again, "not as we would write it: %s", strings.Join(unsettled, ", ")))
		case len(direct) > 0:
			list = append(list, cli.Note(check, again, "not through the gateway: %s", strings.Join(direct, ", ")))
		default:
			list = append(list, cli.OK(check, "%d of %d go through the gateway", r.Through, len(r.Servers)))
		}
		if len(beside) > 0 {
			list = append(list, cli.Note(check, "", "not covered by the gateway: %s", strings.Join(beside, ", ")))
		}
	}
	return list
}
