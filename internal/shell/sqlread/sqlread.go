// Package sqlread says whether an SQL statement only reads.
package sqlread

import (
	"slices"
	"strings"
)

// MaxBytes is the length of the longest statement that is examined. A longer one is assumed to
// write.
const MaxBytes = 16 << 10

// ReadsOnly reports whether text is a single SQL statement that only reads, in every dialect. It
// returns false if the text contains a function that it does not know, or anything that could hide
// something, such as comments, escapes or a second statement.
func ReadsOnly(text string) bool {
	if len(text) > MaxBytes {
		return false
	}
	tokens := sqlTokens(strings.TrimSuffix(strings.TrimSpace(text), ";"))
	if len(tokens) == 0 {
		return false
	}
	if tokens[0] == "show" {
		return !slices.Contains(tokens, "(")
	}
	if tokens[0] == "explain" {
		for tokens = tokens[1:]; len(tokens) > 0 && oneOf(tokens[0], "analyze", "verbose", "query", "plan"); {
			tokens = tokens[1:]
		}
	}
	if len(tokens) == 0 || tokens[0] != "select" && (tokens[0] != "with" || !slices.Contains(tokens, "select")) {
		return false
	}
	return !slices.ContainsFunc(tokens, writesSQL) && knownCalls(tokens)
}

// sqlTokens splits a statement into words in lower case, brackets, dots, and one token for every
// quoted text. It returns nil if the statement contains anything unusual.
func sqlTokens(text string) []string {
	if strings.Contains(text, `\`) {
		return nil
	}
	var out []string
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case wordByte(c):
			start := i
			for i < len(text) && wordByte(text[i]) {
				i++
			}
			out = append(out, strings.ToLower(text[start:i]))
			continue
		case c == '\'' || c == '"' || c == '`':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return nil
			}
			out = append(out, string(c))
			i += end + 1
		case c == '(' || c == ')' || c == '.':
			out = append(out, string(c))
		case strings.HasPrefix(text[i:], "--"), strings.HasPrefix(text[i:], "/*"), strings.HasPrefix(text[i:], ":="):
			return nil
		case c == '$' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9': // a parameter
		case strings.IndexByte(" \t\r\n,*=<>!+-/%|:[]?", c) < 0:
			return nil
		}
		i++
	}
	return out
}

func wordByte(c byte) bool { return c == '_' || letterOrDigit(c) }

// writesSQL reports whether a word writes, locks or runs something in some dialect.
func writesSQL(word string) bool {
	return oneOf(word, "into", "insert", "update", "delete", "merge", "replace", "upsert", "drop", "alter", "create", "truncate", "grant",
		"revoke", "copy", "call", "do", "exec", "execute", "prepare", "deallocate", "set", "reset", "begin", "commit", "rollback", "savepoint",
		"lock", "vacuum", "attach", "detach", "pragma", "outfile", "dumpfile", "load", "listen", "notify", "share", "reindex", "refresh",
		"returning", "handler", "import", "cluster", "discard", "checkpoint", "security", "go")
}

// knownCalls reports whether every bracket follows a word of the language or a known function
// without a schema. Any other function may do more than its name says.
func knownCalls(tokens []string) bool {
	for i, t := range tokens[1:] {
		if before := tokens[i]; t == "(" && before != "(" && (i > 0 && tokens[i-1] == "." || !sqlWord(before) && !sqlFunction(before)) {
			return false
		}
	}
	return true
}

func sqlWord(word string) bool {
	return oneOf(word, "select", "distinct", "from", "where", "and", "or", "not", "in", "exists", "any", "all", "some", "as", "on", "join",
		"using", "having", "by", "union", "except", "intersect", "when", "then", "else", "case", "over", "filter", "with", "materialized",
		"values", "lateral", "between", "like", "ilike", "is", "limit", "offset", "interval")
}

func sqlFunction(word string) bool {
	return oneOf(word, "count", "sum", "avg", "min", "max", "abs", "round", "floor", "ceil", "ceiling", "mod", "power", "sqrt", "lower", "upper",
		"length", "char_length", "trim", "ltrim", "rtrim", "substr", "substring", "left", "right", "concat", "concat_ws", "coalesce", "nullif",
		"ifnull", "greatest", "least", "cast", "extract", "date", "date_trunc", "date_part", "datetime", "strftime", "to_char", "to_date", "now",
		"age", "row_number", "rank", "dense_rank", "lag", "lead", "first_value", "last_value", "string_agg", "group_concat", "array_agg",
		"json_agg", "jsonb_agg", "json_object", "json_build_object", "jsonb_build_object", "json_extract", "unnest", "split_part", "position",
		"numeric", "decimal", "varchar", "char", "stddev", "variance", "percentile_cont", "bool_and", "bool_or", "total", "instr", "typeof", "iif")
}

func letterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func oneOf(word string, list ...string) bool { return slices.Contains(list, word) }
