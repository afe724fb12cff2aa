package meaning

import "strings"

// mostNamed bounds the tools that [Describe] names.
const mostNamed = 3

// Describe says what an owner can do about undescribed tools, with the command to type. A name that
// a shell could read as something else is left out.
func Describe(tools []string) string {
	if len(tools) == 0 {
		return ""
	}
	var names []string
	for _, t := range tools[:min(len(tools), mostNamed)] {
		if plain(t) {
			names = append(names, t)
		}
	}
	if len(names) == 0 {
		return " A tool is not described yet: say under «tools:» in your policy what it does."
	}
	is := " is"
	if len(names) > 1 {
		is = " are"
	}
	return " " + strings.Join(names, ", ") + is + " not described yet: say under «tools:» in your policy what it does; «floodmark policy catalog show " + names[0] + "» says what is known."
}

// plain reports whether a name is a single word in every shell and not an option.
func plain(name string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.' && r != '/'
	}
	return name != "" && len(name) <= 80 && !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, other)
}
