package prove

import "testing"

// The lines of BoxesLine and Next.
func TestWhatIsSaidOfBoxes(t *testing.T) {
	good := &Proof{Version: "1", Grade: HostVerified, Rewrites: true}
	pi, old := Boxable{Name: "pi", Title: "pi", Version: "1", Proof: good}, Boxable{Name: "codex", Title: "Codex", Version: "2", Proof: good}
	claude, keeps := Boxable{Name: "claude-code", Title: "Claude Code"}, Boxable{Name: "gemini-cli", Title: "Gemini CLI", Version: "1", Proof: &Proof{Version: "1", Grade: HostVerified}}
	root := Boxable{Name: "codex", Title: "Codex", Version: "1", Proof: good, Off: Unboxable("codex", 0)}
	if Unboxable("codex", 1000)+Unboxable("pi", 0) != "" {
		t.Error("boxes are off where they are not")
	}
	for want, got := range map[string]string{
		"0 commands ran in boxes today; off for Codex (as root no box can be made in its sandbox)":                                                                                                     BoxesLine(0, "", "", []Boxable{pi, root}),
		"All is set: commands of pi run in boxes where you would have been asked. «floodmark status --all» counts them. Commands of Codex are asked about: as root no box can be made in its sandbox.": Next(true, []Boxable{pi, root}),
		"Next: «floodmark status --all» shows what is covered. Commands of Codex are asked about: as root no box can be made in its sandbox.":                                                          Next(true, []Boxable{root}),
		"1 command ran in a box today":   BoxesLine(1, "", "", []Boxable{pi}),
		"0 commands ran in boxes today":  BoxesLine(0, "", "", nil),
		"12 commands ran in boxes today": BoxesLine(12, "", "", []Boxable{pi}),
		"2 commands ran in boxes today; off for Codex («floodmark prove codex»), Claude Code (it cannot be tried here), Gemini CLI («floodmark prove gemini-cli»)": BoxesLine(2, "", "", []Boxable{pi, old, claude, keeps}),
		"0 commands ran in boxes today; off: no box works here (do this); what would run in one is asked about":                                                    BoxesLine(0, "no box works here", "do this", []Boxable{pi, old}),
		"0 commands ran in boxes today; off: no box works here; what would run in one is asked about":                                                              BoxesLine(0, "no box works here", "", nil),
		"All is set: commands of pi run in boxes where you would have been asked. «floodmark status --all» counts them.":                                           Next(true, []Boxable{pi, old}),
		"Next: «floodmark prove». Commands of an agent that is HOST VERIFIED run in boxes from then on.":                                                           Next(true, []Boxable{old, claude}),
		"Next: «floodmark prove --box». If the box holds, commands that a stranger's text could have shaped run in boxes, and you are not asked about them.":       Next(false, []Boxable{pi}),
		"Next: «floodmark status --all» shows what is covered. No command of these agents runs in a box: that takes HOST VERIFIED.":                                Next(false, []Boxable{claude}),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	list := Boxables([]Result{{Agent: "pi", Title: "pi", Version: "1", Grade: HostVerified, Rewrites: true}, {Agent: "codex", Grade: Failed}})
	if len(list) != 2 || !list[0].proved() || list[1].proved() {
		t.Errorf("%+v", list)
	}
}
