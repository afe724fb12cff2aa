package truth

import "slices"

// disablings returns at least one way for each construct of the generator to make the scanner
// overlook it.
func disablings() []disabling {
	return slices.Concat(commandDisablings(), wordDisablings(), moreDisablings())
}

func commandDisablings() []disabling {
	const nothing = "s.parts++; return feed{piped: true}"
	return []disabling{
		{"pipe", "binary", "syntax.Pipe", "return s.stmt(c.X, st.fork(), in, depth+1)"},
		{"list", "binary", "syntax.AndStmt", "return s.stmt(c.X, st, in, depth+1)"},
		{"list", "stmts", "", "if len(list) > 1 { list = list[:1] }"},
		{"background", "stmt", "", "if stmt.Background { s.parts++; return feed{piped: true} }"},
		{"negation", "stmt", "", "if stmt.Negated { s.parts++; return feed{piped: true} }"},
		{"subshell", "command", "*syntax.Subshell", nothing},
		{"group", "command", "*syntax.Block", nothing},
		{"if", "command", "*syntax.IfClause", nothing},
		{"while", "command", "*syntax.WhileClause", nothing},
		{"for", "command", "*syntax.ForClause", nothing},
		{"case", "command", "*syntax.CaseClause", nothing},
		{"time", "command", "*syntax.TimeClause", nothing},
		{"test", "command", "*syntax.TestClause", nothing},
		{"coproc", "command", "*syntax.CoprocClause", nothing},
		{"arithmetic", "command", "*syntax.ArithmCmd", nothing},
		{"function", "function", "", nothing},
		{"loop-variable", "loopOnce", "", "st.set(name, []word{literal(\"other\")})"},
	}
}

// wordDisablings returns the disablings for parts of words, for builtins and for wrappers.
func wordDisablings() []disabling {
	named := func(names string) string {
		return "if len(words) > 0 { switch base(words[0].text) { case " + names + ": return feed{piped: true} } }"
	}
	return []disabling{
		{"cmdsubst", "wordParts", "*syntax.CmdSubst", "w = literal(\"true\")"},
		{"backquote", "substitute", "", "if c.Backquotes { return literal(\"true\") }"},
		{"word-substitution", "substitute", "", "s.stmts(c.Stmts, st.fork(), feed{}, depth+1); return literal(\"true\")"},
		{"procsubst", "wordParts", "*syntax.ProcSubst", "w = literal(\"true\")"},
		{"quote-single", "wordParts", "*syntax.SglQuoted", "w = literal(\"true\")"},
		{"quote-double", "wordParts", "*syntax.DblQuoted", "w = literal(\"true\")"},
		{"quote-ansi", "ansi", "", "return literal(\"true\")"},
		{"backslash", "bare", "", "if strings.Contains(text, \"\\\\\") { return literal(\"true\") }"},
		{"glob", "bare", "", "if strings.ContainsAny(text, \"*?[\") { return literal(\"true\") }"},
		{"brace", "fields", "", "if true { out := make([]word, 0, len(words)); for _, w := range words { got, many := s.wordParts(w.Parts, st, false, depth); if out = append(out, many...); many == nil { out = append(out, got) } }; return out }"},
		{"tilde", "expandTilde", "", "return w"},
		{"variable", "variable", "", "if _, ok := st.vars[name]; ok { return []word{literal(\"true\")} }"},
		{"positional", "variable", "", "if st.args != nil && len(name) == 1 { return []word{literal(\"true\")} }"},
		{"param-expansion", "changed", "", "return []word{literal(\"true\")}"},
		{"array", "assign", "a.Array != nil", "value = []word{literal(\"true\")}"},

		{"eval", "builtin", "\"eval\"", "return none, true"},
		{"source", "builtin", "\"source\"", "return none, true"},
		{"exec", "builtin", "\"exec\"", "return none, true"},
		{"command", "builtin", "\"command\"", "return none, true"},
		{"trap", "builtin", "\"trap\"", "return none, true"},
		{"cd", "builtin", "\"cd\"", "return none, true"},
		{"pushd", "enter", "", "if name != \"cd\" { return }"},
		{"alias", "builtin", "", "if name == \"alias\" || name == \"shopt\" { return feed{piped: true}, true }"},
		{"prompt", "assign", "", "if a.Name != nil && a.Name.Value == \"PS4\" { return }"},
		{"assignment", "simple", "", "if len(c.Assigns) > 0 && len(c.Args) > 0 { s.parts++; return feed{piped: true} }"},

		{"shell-c", "nested", "", "j.ran = true; return"},
		{"shell-stdin", "interpretInput", "", "j.ran = true; return"},
		{"encoding", "interpretInput", "", "if !j.in.known { j.ran = true; return }"},
		{"wrapper", "program", "", named(`"env", "nice", "nohup", "timeout", "stdbuf", "setsid", "ionice", "flock", "chrt", "taskset"`)},
	}
}

// moreDisablings returns the disablings for commands that start others, for doubtful text and for
// redirections.
func moreDisablings() []disabling {
	const nothing = "s.parts++; return feed{piped: true}"
	named := func(names string) string {
		return "if len(words) > 0 { switch base(words[0].text) { case " + names + ": return feed{piped: true} } }"
	}
	redirect := func(condition string) string { return "if " + condition + " { return }" }
	return []disabling{
		{"wrapper-split", "program", "", named(`"env"`)},
		{"sudo", "program", "", named(`"sudo", "doas"`)},
		{"busybox", "program", "", named(`"busybox"`)},
		{"xargs", "program", "", named(`"xargs"`)},
		{"find-exec", "program", "", named(`"find"`)},
		{"git-config", "program", "", named(`"git"`)},
		{"interpreter", "program", "", named(`"python3", "perl"`)},
		{"awk", "program", "", named(`"awk"`)},
		{"sed", "program", "", named(`"sed"`)},
		{"make", "program", "", named(`"make"`)},
		{"program-file", "runFile", "", nothing},
		{"wrapper-folder", "inFolder", "", "return st"},

		{"comment", "differs", "", "return \"\""},
		{"quoted-default", "quotedAgain", "", "return"},
		{"extglob", "expansions", "*syntax.ExtGlob", "return false"},
		{"hidden-arithmetic", "doubt", "", "return"},
		{"literal-arithmetic", "holdsCommand", "", "return"},

		{"redirect-in", "redirect", "", redirect("rd.Op == syntax.RdrIn")},
		{"redirect-out", "redirect", "", redirect("rd.Op == syntax.RdrOut")},
		{"redirect-append", "redirect", "", redirect("rd.Op == syntax.AppOut")},
		{"redirect-clobber", "redirect", "", redirect("rd.Op.String() == \">|\"")},
		{"redirect-both", "redirect", "", redirect("rd.Op == syntax.RdrAll || rd.Op == syntax.AppAll || rd.Op == syntax.DplOut")},
		{"redirect-rw", "redirect", "", redirect("rd.Op == syntax.RdrInOut")},
		{"fd-dup", "redirect", "", redirect("rd.N != nil")},
		{"redirect-name", "redirect", "", redirect("rd.Word != nil && rd.Word.Lit() == \"\" && rd.Op == syntax.RdrOut")},
		{"heredoc", "redirect", "syntax.Hdoc", "_ = stdin; *in = feed{piped: true, known: true}"},
		{"herestring", "redirect", "", redirect("rd.Op == syntax.WordHdoc")},
		{"heredoc-file", "redirects", "", "for _, rd := range list { if rd.Hdoc != nil { return redirected{} } }"},
	}
}
