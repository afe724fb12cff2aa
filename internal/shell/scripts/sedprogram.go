package scripts

import "strings"

// PlainSed reports whether a program only changes its input stream.
func PlainSed(text string) bool {
	for text != "" {
		text = strings.TrimLeft(text, " \t\n;{}!")
		if text == "" {
			return true
		}
		var ok bool
		if text, ok = sedAddress(text); !ok {
			return false
		}
		text = strings.TrimLeft(text, " \t!{")
		if text == "" {
			return true
		}
		if text, ok = sedCommand(text); !ok {
			return false
		}
	}
	return true
}

// sedAddress returns the text after an address such as 1,40 or $ or /x/ or 0~3.
func sedAddress(text string) (string, bool) {
	for text != "" {
		switch c := text[0]; {
		case c >= '0' && c <= '9', c == ',', c == '$', c == '~', c == '+', c == ' ':
			text = text[1:]
		case c == '/', c == '\\' && len(text) > 1:
			delim := c
			text = text[1:]
			if c == '\\' {
				delim, text = text[0], text[1:]
			}
			_, rest, ok := sedUntil(text, delim)
			if !ok {
				return "", false
			}
			text = strings.TrimLeft(rest, "IM")
		default:
			return text, true
		}
	}
	return text, true
}

// sedUntil cuts a text at the next delimiter that is not escaped.
func sedUntil(text string, delim byte) (head, rest string, ok bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case delim:
			return text[:i], text[i+1:], true
		}
	}
	return "", "", false
}

// sedCommand returns the text after one command, or false if it may run or touch something else.
func sedCommand(text string) (string, bool) {
	c := text[0]
	switch {
	case c == 's' || c == 'y':
		if len(text) < 4 {
			return "", false
		}
		_, rest, ok := sedUntil(text[2:], text[1])
		if !ok {
			return "", false
		}
		if _, rest, ok = sedUntil(rest, text[1]); !ok {
			return "", false
		}
		end := strings.IndexAny(rest, ";}\n #")
		if end < 0 {
			end = len(rest)
		}
		return rest[end:], strings.Trim(rest[:end], "gpiIMm0123456789") == ""
	case strings.IndexByte("aic", c) >= 0: // the rest of the line is text
		for strings.HasSuffix(firstLine(text), `\`) && len(firstLine(text)) < len(text) {
			text = text[len(firstLine(text))+1:]
		}
		return text[min(len(text), len(firstLine(text))):], true
	case c == '#':
		return text[len(firstLine(text)):], true
	case strings.IndexByte("btT:", c) >= 0:
		return text[strings.IndexAny(text+";", ";\n}"):], true
	case strings.IndexByte("pPdDnNgGhHxlqQ=z", c) >= 0:
		return strings.TrimLeft(text[1:], " 0123456789"), true
	}
	return "", false
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
