package main

import (
	"fmt"
	"strings"
	"time"
)

// A fleetReport is a login for programs: fields are only added. It has no secret.
type fleetReport struct {
	Name    string    `json:"name"`
	URL     string    `json:"url"`
	Who     string    `json:"who"`
	Issuer  string    `json:"issuer"`
	Since   time.Time `json:"since"`
	Ends    time.Time `json:"ends"`
	Renewed bool      `json:"renewed"`
	// By is `oidc` or `token`; of a token the fleet said the rest.
	By     string   `json:"by"`
	Tenant string   `json:"tenant,omitempty"`
	May    []string `json:"may,omitempty"`
}

// over reports a login that has ended and cannot be renewed.
func (f fleetReport) over(now time.Time) bool {
	return !f.Renewed && !f.endless() && !now.Before(f.Ends)
}

// endless reports a token that counts until the fleet revokes it.
func (f fleetReport) endless() bool { return f.By == "token" && f.Ends.IsZero() }

// again returns the command that logs in there once more.
func (f fleetReport) again(p place) string {
	if f.By == "token" {
		return "floodmark fleet login " + shellWord(f.URL) + " --token FILE" + p.flags()
	}
	return "floodmark fleet login " + shellWord(f.URL) + p.flags()
}

// loginsAt returns the logins of an installation.
func (c *console) loginsAt(p place) ([]fleetReport, error) {
	book, err := c.fleets(p)
	if err != nil {
		return nil, err
	}
	list, err := book.List()
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	reports := []fleetReport{}
	for _, f := range list {
		one := fleetReport{Name: f.Name, URL: f.URL, Who: f.Who(), Issuer: f.Login.Issuer, Since: f.Since, Ends: f.Pass.Ends, Renewed: f.Pass.Refresh != "", By: "oidc"}
		if f.Given != nil {
			one.By, one.Tenant, one.May = "token", f.Given.Tenant, f.Given.May
		}
		reports = append(reports, one)
	}
	return reports, nil
}

func (c *console) listLogins(p place, form string) error {
	list, err := c.loginsAt(p)
	switch {
	case err != nil:
		return err
	case form == asJSON:
		return c.json(struct {
			Fleets []fleetReport `json:"fleets"`
		}{list})
	case len(list) == 0:
		c.say("you are logged in nowhere")
		return errNo
	}
	st := c.outStyle()
	head := cells("FLEET", "URL", "AS", "ENDS")
	for i := range head {
		head[i].paint = st.dim
	}
	rows := [][]cell{head}
	for _, f := range list {
		row := cells(f.Name, f.URL, f.Who, f.Ends.Local().Format("2006-01-02 15:04"))
		switch {
		case f.Renewed:
			row[3].text = "renewed by itself"
		case f.endless():
			row[3].text = "never"
		case f.over(c.clock()):
			row[3] = cell{"ended", st.red}
		}
		rows = append(rows, row)
	}
	out := &sheet{st: st}
	out.table(0, rows)
	fmt.Fprint(c.stdout, strings.TrimLeft(out.String(), "\n"))
	return nil
}

// fleetLines returns the logins as «floodmark status» shows them.
func (c *console) fleetLines(p place) (lines []string) {
	list, err := c.loginsAt(p)
	if err != nil {
		return []string{"Logins at fleets: " + err.Error()}
	}
	for _, f := range list {
		line := "You are logged in at " + f.Name + " (" + f.URL + ") as " + f.Who
		if f.Tenant != "" {
			line += ", of " + f.Tenant
		}
		if f.over(c.clock()) {
			line = "Your login at " + f.Name + " has ended (" + f.again(p) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}
