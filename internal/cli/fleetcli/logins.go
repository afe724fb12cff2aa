package fleetcli

import (
	"fmt"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/cli"
)

// A FleetReport is a login, for programs: fields are only added. It contains no secret.
type FleetReport struct {
	Name    string    `json:"name"`
	URL     string    `json:"url"`
	Who     string    `json:"who"`
	Issuer  string    `json:"issuer"`
	Since   time.Time `json:"since"`
	Ends    time.Time `json:"ends"`
	Renewed bool      `json:"renewed"`
	// By is `oidc` or `token`. For a token, Tenant and May are what the fleet said of it.
	By     string   `json:"by"`
	Tenant string   `json:"tenant,omitempty"`
	May    []string `json:"may,omitempty"`
}

// over reports whether a login has ended and cannot be renewed.
func (f FleetReport) over(now time.Time) bool {
	return !f.Renewed && !f.endless() && !now.Before(f.Ends)
}

// endless reports whether a login is a token that is valid until the fleet revokes it.
func (f FleetReport) endless() bool { return f.By == "token" && f.Ends.IsZero() }

// again returns the command that renews the login.
func (f FleetReport) again(p cli.Place) string {
	if f.By == "token" {
		return "floodmark fleet login " + cli.ShellWord(f.URL) + " --token FILE" + p.Flags()
	}
	return "floodmark fleet login " + cli.ShellWord(f.URL) + p.Flags()
}

// LoginsAt returns the logins of an installation.
func LoginsAt(c *cli.Console, p cli.Place) ([]FleetReport, error) {
	book, err := c.Fleets(p)
	if err != nil {
		return nil, err
	}
	list, err := book.List()
	if err != nil {
		return nil, cli.Refuse("", "%s", err)
	}
	reports := []FleetReport{}
	for _, f := range list {
		one := FleetReport{Name: f.Name, URL: f.URL, Who: f.Who(), Issuer: f.Login.Issuer, Since: f.Since, Ends: f.Pass.Ends, Renewed: f.Pass.Refresh != "", By: "oidc"}
		if f.Given != nil {
			one.By, one.Tenant, one.May = "token", f.Given.Tenant, f.Given.May
		}
		reports = append(reports, one)
	}
	return reports, nil
}

func listLogins(c *cli.Console, p cli.Place, form string) error {
	list, err := LoginsAt(c, p)
	switch {
	case err != nil:
		return err
	case form == cli.AsJSON:
		return c.JSON(struct {
			Fleets []FleetReport `json:"fleets"`
		}{list})
	case len(list) == 0:
		c.Say("you are not logged in at any fleet")
		return cli.ErrNo
	}
	st := c.OutStyle()
	head := cli.Cells("FLEET", "URL", "AS", "ENDS")
	for i := range head {
		head[i].Paint = st.Dim
	}
	rows := [][]cli.Cell{head}
	for _, f := range list {
		row := cli.Cells(f.Name, f.URL, f.Who, f.Ends.Local().Format("2006-01-02 15:04"))
		switch {
		case f.Renewed:
			row[3].Text = "renewed by itself"
		case f.endless():
			row[3].Text = "never"
		case f.over(c.Clock()):
			row[3] = cli.Cell{Text: "ended", Paint: st.Red}
		}
		rows = append(rows, row)
	}
	out := &cli.Sheet{St: st}
	out.Table(0, rows)
	fmt.Fprint(c.Stdout, strings.TrimLeft(out.String(), "\n"))
	return nil
}

// FleetLines returns the lines about logins in «floodmark status».
func FleetLines(c *cli.Console, p cli.Place) (lines []string) {
	list, err := LoginsAt(c, p)
	if err != nil {
		return []string{"Logins at fleets: " + err.Error()}
	}
	for _, f := range list {
		line := "You are logged in at " + f.Name + " (" + f.URL + ") as " + f.Who
		if f.Tenant != "" {
			line += ", of " + f.Tenant
		}
		if f.over(c.Clock()) {
			line = "Your login at " + f.Name + " has ended (" + f.again(p) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}
