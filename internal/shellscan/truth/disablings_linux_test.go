package truth

// disablings are ways to make the scanner overlook a construct, at least one
// for each rule of the generator.
func disablings() []disabling {
	const nothing = "return feed{piped: true}"
	return []disabling{
		{"pipe", "binary", "syntax.Pipe", "return s.stmt(c.X, st.fork(), in, depth+1)"},
		{"list", "binary", "syntax.AndStmt", "return s.stmt(c.X, st, in, depth+1)"},
		{"list", "stmts", "", "if len(list) == 0 { return feed{} }; return s.stmt(list[0], st, in, depth)"},
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
		{"cmdsubst", "wordParts", "*syntax.CmdSubst", "w = literal(\"x\")"},
		{"procsubst", "wordParts", "*syntax.ProcSubst", "w = literal(\"x\")"},
		{"brace", "braced", "", "return false"},
		{"eval", "builtin", "\"eval\"", "return none, true"},
		{"source", "builtin", "\"source\"", "return none, true"},
		{"exec", "builtin", "\"exec\"", "return none, true"},
		{"command", "builtin", "\"command\"", "return none, true"},
		{"trap", "builtin", "\"trap\"", "return none, true"},
		{"cd", "builtin", "\"cd\"", "return none, true"},
	}
}
