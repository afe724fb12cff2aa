package prove

import (
	"fmt"
	"os"
	"strings"
)

// A Boxable is a protected agent whose commands may run in boxes.
type Boxable struct {
	Name, Title, Version string
	Proof                *Proof // nil if the agent was never tried
	// Off says why no command of the agent can run in a box here, whatever is proved; see
	// [Unboxable].
	Off string
}

// Unboxable returns why commands of an agent cannot run in boxes for this user, or "" if they can.
// As root a box needs a control group, and Codex's sandbox lets nothing write to one.
func Unboxable(agent string, user int) string {
	if agent == "codex" && user == 0 {
		return "as root no box can be made in its sandbox"
	}
	return ""
}

// proved reports whether prove has seen this version of the agent run the command that it gets in
// place of its own. The monitor also compares the program itself; see [Rewrites].
func (a Boxable) proved() bool {
	return a.Off == "" && a.Proof != nil && a.Proof.Grade == HostVerified && a.Proof.Rewrites && (a.Version == "" || a.Version == a.Proof.Version)
}

// BoxesLine returns a line on how many commands ran in boxes today, and for which agents none do,
// and why. off is why no box can be made here at all, if not empty, and todo is what to do about
// that.
func BoxesLine(today int64, off, todo string, agents []Boxable) string {
	ran := fmt.Sprintf("%d commands ran in boxes today", today)
	if today == 1 {
		ran = "1 command ran in a box today"
	}
	if off != "" {
		if todo != "" {
			off += " (" + todo + ")"
		}
		return ran + "; off: " + off + "; what would run in one is asked about"
	}
	var not []string
	for _, a := range agents {
		_, starts := hostOf(a.Name)
		switch {
		case a.proved():
		case a.Off != "":
			not = append(not, a.Title+" ("+a.Off+")")
		case !starts:
			not = append(not, a.Title+" (it cannot be tried here)")
		default:
			not = append(not, a.Title+" («floodmark prove "+a.Name+"»)")
		}
	}
	if len(not) > 0 {
		ran += "; off for " + strings.Join(not, ", ")
	}
	return ran
}

// Next returns a line on what to do after a proof. held is set if a box was seen to hold here.
func Next(held bool, agents []Boxable) string {
	var names []string
	asked := ""
	for _, a := range agents {
		if a.proved() {
			names = append(names, a.Title)
		} else if a.Off != "" {
			asked = " Commands of " + a.Title + " are asked about: " + a.Off + "."
		}
	}
	switch {
	case len(names) == 0 && asked != "":
		return "Next: «floodmark status --all» shows what is covered." + asked
	case len(names) == 0 && held:
		return "Next: «floodmark prove». Commands of an agent that is HOST VERIFIED run in boxes from then on."
	case len(names) == 0:
		return "Next: «floodmark status --all» shows what is covered. No command of these agents runs in a box: that takes HOST VERIFIED."
	case !held:
		return "Next: «floodmark prove --box». If the box holds, commands that a stranger's text could have shaped run in boxes, and you are not asked about them." + asked
	}
	return "All is set: commands of " + strings.Join(names, ", ") + " run in boxes where you would have been asked. «floodmark status --all» counts them." + asked
}

// Boxables returns the agents of some results.
func Boxables(results []Result) (list []Boxable) {
	for _, r := range results {
		p := Proof{Version: r.Version, Grade: r.Grade, Rewrites: r.Rewrites}
		list = append(list, Boxable{Name: r.Agent, Title: r.Title, Version: r.Version, Proof: &p, Off: Unboxable(r.Agent, os.Getuid())})
	}
	return list
}
