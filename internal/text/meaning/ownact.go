package meaning

// The kinds of incidents that record what a person did by hand. They are history: nothing went wrong.
const (
	RulesSaved  = "policy-saved"
	RulesBack   = "policy-rolled-back"
	RulesLoaded = "policy-loaded" // rules that a person saved in the console are in force
	Undone      = "undo"
)

// OwnAct reports whether an incident of a kind records what a person did by hand. An unknown kind is
// no such act.
func OwnAct(kind string) bool {
	switch kind {
	case RulesSaved, RulesBack, RulesLoaded, Undone, "definition-accepted", "definition-rejected", "definition-forgotten", "copy-forgotten":
		return true
	}
	return false
}
