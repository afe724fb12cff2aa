package codescan

// jsSink says what a function of fs does with the files its arguments name.
func jsSink(w string) string {
	switch w {
	case "readFileSync", "existsSync", "readdirSync", "statSync", "readFile":
		return "r"
	case "writeFileSync", "appendFileSync", "mkdirSync", "writeFile":
		return "w"
	case "unlinkSync", "rmSync", "rmdirSync":
		return "d"
	case "renameSync":
		return "dw"
	case "copyFileSync":
		return "rw"
	}
	return ""
}

// sink judges a call of a function of fs.
func (s *jsScan) sink(i int) bool {
	open := s.tok(i + 1)
	if !open.is("(") || open.pair < 0 || s.tok(open.pair+1).is("{") || s.tok(open.pair+1).is(":") || s.tok(i-1).is("function") {
		return false // not there, or a function of that name
	}
	if s.list[i].word == "readFileSync" || s.list[i].word == "readFile" {
		for k := i + 2; k < open.pair; k++ {
			if s.list[k].is("{") || s.list[k].is("...") {
				return false // with a flag it empties the file
			}
		}
	}
	at := i + 2
	for _, letter := range []byte(jsSink(s.list[i].word)) {
		p, ok := s.path(at)
		if !ok || !s.tok(at+1).is(",") && !s.tok(at+1).is(")") {
			return false
		}
		switch letter {
		case 'r':
			s.r.Reads = append(s.r.Reads, p)
		case 'w':
			s.r.Writes = append(s.r.Writes, p)
		case 'd':
			s.r.Deletes = append(s.r.Deletes, p, joinPath(p, "**"))
		}
		at += 2
	}
	return true
}

// path tells the path at token i: a literal, or a constant that is one and
// that nothing but such calls ever see.
func (s *jsScan) path(i int) (string, bool) {
	t := s.tok(i)
	if t.kind == text {
		return t.word, plainLiteral(t.word)
	}
	if t.kind != name || jsKeyword(t.word) {
		return "", false
	}
	if value, seen := s.paths[t.word]; seen || len(s.paths) >= maxValues {
		return value, seen
	}
	value, found := "", false
	for k, u := range s.list {
		if u.kind != name || u.word != t.word || s.dotted(k) {
			continue
		}
		if s.tok(k-1).is("const") && s.tok(k+1).is("=") && s.tok(k+2).kind == text && s.tok(k+3).is(";") && !found {
			value, found = s.tok(k+2).word, true
			continue
		}
		if !s.tok(k-1).is("(") || jsSink(s.tok(k-2).word) == "" {
			return "", false
		}
	}
	if !found || !plainLiteral(value) {
		return "", false
	}
	s.paths[t.word] = value
	return value, true
}

func plainLiteral(w string) bool {
	for i := range len(w) {
		if w[i] == '\\' {
			return false
		}
	}
	return w != ""
}

// imported reports whether the name i stands in the brackets of an import or
// of a pattern, where it is judged with the module.
func (s *jsScan) imported(i int) bool {
	up := s.list[i].up
	if up < 1 || !s.list[up].is("{") || !s.tok(i+1).is(",") && !s.tok(i+1).is("}") {
		return false
	}
	shut := s.list[up].pair
	if s.tok(up - 1).is("import") {
		return s.tok(shut+1).is("from") && (s.tok(shut+2).word == "fs" || s.tok(shut+2).word == "node:fs")
	}
	return s.tok(up-1).is("const") && s.tok(shut+1).is("=") && s.tok(shut+2).is("require")
}

// fs judges the name fs itself: it is bound once, and only called upon.
func (s *jsScan) fs(i int) bool {
	before, next := s.tok(i-1), s.tok(i+1)
	switch {
	case next.is("."):
		return jsSink(s.tok(i+2).word) != ""
	case before.is("const"):
		return next.is("=") && s.tok(i+2).is("require") && s.tok(i+4).kind == text && (s.tok(i+4).word == "fs" || s.tok(i+4).word == "node:fs")
	case before.is("import"):
		return next.is("from") && s.tok(i+2).kind == text
	}
	return false
}

// process judges what is used of the process.
func (s *jsScan) process(i int) bool {
	if !s.tok(i + 1).is(".") {
		return false
	}
	member := s.tok(i + 2).word
	after := s.tok(i + 3)
	switch member {
	case "argv":
		s.r.Arguments = true
	case "stdout", "stderr":
		if !after.is(".") || !s.tok(i+4).is("write") || !s.tok(i+5).is("(") {
			return false
		}
		s.list[i+4].held = true
	case "exit", "cwd", "version", "platform", "exitCode", "uptime", "hrtime", "memoryUsage":
		if member != "exitCode" && (after.is("=") || after.is(".")) && member != "version" && member != "hrtime" {
			return false
		}
	default:
		return false
	}
	s.list[i+2].held = true
	return true
}
