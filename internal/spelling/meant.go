package spelling

// Meant returns the word of a policy for one that other tools use, in small letters.
func Meant(s string) (string, bool) {
	switch s {
	case "deny", "block", "forbid", "reject", "never", "refuse":
		return "restrict", true
	case "ask", "prompt", "approve", "approval", "question":
		return "confirm", true
	case "permit", "accept", "pass", "yes", "always":
		return "allow", true
	case "review", "check":
		return "audit", true
	case "user", "me":
		return "owner", true
	case "internet", "web", "public":
		return "untrusted", true
	case "policies":
		return "rules", true
	case "read":
		return "observe", true
	case "exec", "execute", "shell":
		return "run", true
	case "delete":
		return "change", true
	case "http", "network":
		return "fetch", true
	}
	return "", false
}
