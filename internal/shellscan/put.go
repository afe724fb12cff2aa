package shellscan

import "strings"

// printed is what printf makes of one text without fields.
func printed(name string, args []word) (string, bool) {
	if name != "printf" || len(args) != 1 || !args[0].exact() || strings.Contains(args[0].text, "%") || strings.HasPrefix(args[0].text, "-") {
		return "", false
	}
	text := args[0].text
	for at := 0; at < len(text); at++ {
		if text[at] != '\\' {
			continue
		}
		if at++; at >= len(text) || strings.IndexByte(`nt\`, text[at]) < 0 {
			return "", false
		}
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(text), true
}
