package shellscan

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/scripts"
)

// git adds what git's subcommands do beyond their entries, such as the files of a clone.
func (s *scanner) git(j *job) {
	if len(j.entry.Words) < 2 {
		return
	}
	s.strange(j)
	if s.tuned {
		s.doubt("git was told to do something else")
	}
	s.records(j)
	switch j.entry.Words[1] {
	case "config":
		s.tuned = s.tuned || j.does(floodmark.Admin)
	case "clone":
		s.clone(j)
	case "init":
		s.touch(Effect{Kind: Write, Tree: true}, append([]word{literal(".")}, j.words()...)[j.plain()], j.st)
	case "clean":
		if len(j.p.list) == 0 {
			s.touch(Effect{Kind: Delete, Tree: true}, literal("."), j.st)
		}
	case "add", "stage":
		s.forced(j)
	case "stash":
		s.stash(j)
	case "worktree":
		s.worktree(j)
	case "checkout":
		s.checkout(j)
	case "switch":
		if !j.p.has("-c", "-C", "--create", "--force-create", "--orphan") || j.plain() > 1 {
			s.rewrites(j)
		}
	case "pull", "merge", "rebase", "reset", "cherry-pick", "apply", "am", "revert", "submodule", "bisect", "read-tree", "checkout-index", "sparse-checkout":
		s.rewrites(j)
	}
}

// obeys adds the folders from which git looks for its settings: the folders given by options or, if
// there are none, the folder it works in.
func (s *scanner) obeys(j *job) {
	if !j.entry.Repository {
		return
	}
	for _, w := range j.gitDirs {
		s.touch(Effect{Kind: Settings}, w, j.st)
	}
	if len(j.gitDirs) == 0 {
		s.touch(Effect{Kind: Settings}, literal("."), j.st)
	}
}

func (s *scanner) clone(j *job) {
	plain := j.words()
	if len(plain) == 0 {
		return
	}
	if from := plain[0]; from.exact() && scripts.NamesFile(from.text) { // a local copy
		j.part.Effects = slices.DeleteFunc(j.part.Effects, func(e floodmark.Effect) bool { return e == floodmark.Fetch })
	}
	to := plain[len(plain)-1]
	if len(plain) == 1 {
		to = word{text: strings.TrimSuffix(base(to.text), ".git"), vague: to.vague}
	}
	s.touch(Effect{Kind: Write, Tree: true, Placed: true}, to, j.st)
	for _, p := range s.paths(to.text, j.st) {
		s.bring(p)
	}
}

// rewrites records that git may write every file of the tree.
func (s *scanner) rewrites(j *job) {
	if j.does(floodmark.Write) || j.does(floodmark.Change) {
		s.touch(Effect{Kind: Write, Tree: true}, literal("."), j.st)
	}
}

// words returns the words that are not options or their values.
func (j *job) words() (list []word) {
	for _, o := range j.p.list {
		if o.opt == "" {
			list = append(list, o.w)
		}
	}
	return list
}

// plain returns the number of words that are not options or their values.
func (j *job) plain() int { return len(j.words()) }

// strange adds Run if git writes files from commits that anyone can offer: from an address, from a
// ref such as «pull/7/head», or from FETCH_HEAD. Such commits may change any file.
func (s *scanner) strange(j *job) {
	for _, o := range j.p.list {
		if o.opt != "" {
			continue
		}
		t := o.w.text
		known := !o.w.vague && !scripts.Repository(t) && strings.Count(strings.SplitN(t, ":", 2)[0], "/") < 2 // a remote, or a branch of it
		taken := j.does(floodmark.Fetch) && j.does(floodmark.Write) && j.entry.Words[1] != "clone" && t != "." && !known
		if taken || (j.does(floodmark.Write) || j.does(floodmark.Change)) && strings.Contains(t, "FETCH_HEAD") {
			j.effect(floodmark.Run)
		}
	}
}

// worktree adds the folder of a new working tree.
func (s *scanner) worktree(j *job) {
	for i := range j.p.list {
		if o := &j.p.list[i]; o.role == commandbook.Writes {
			s.touch(Effect{Kind: Write, Tree: true, Placed: true}, o.w, j.st)
			o.role = commandbook.Text
		}
	}
}

// stash adds the changes to the working tree. Stashing may also delete untracked files.
func (s *scanner) stash(j *job) {
	if len(j.entry.Words) > 2 && (j.entry.Words[2] == "list" || j.entry.Words[2] == "show") {
		return
	}
	s.rewrites(j)
	if j.does(floodmark.Change) && j.does(floodmark.Write) {
		s.touch(Effect{Kind: Delete, Tree: true}, literal("."), j.st)
	}
}

// checkout separates branches from files. A word that could be either is treated as a file whose
// changes are discarded.
func (s *scanner) checkout(j *job) {
	if j.p.has("-b", "--orphan") && j.plain() == 0 {
		return // only a name is made
	}
	if j.p.has("-b", "-B", "--orphan") || j.plain() < 2 {
		s.rewrites(j)
	}
	if j.p.has("-b", "-B", "--orphan") {
		return
	}
	for i := range j.p.list {
		o := &j.p.list[i]
		if o.opt != "" || i == 0 && j.plain() == 1 && revision(o.w) {
			continue
		}
		j.effect(floodmark.Change)
		if i > 0 || !revision(o.w) {
			o.role = commandbook.Writes
			s.touch(Effect{Kind: Write, Tree: true}, o.w, j.st) // it may be a folder
		}
	}
}

// revision reports whether a word looks like a branch or commit. A folder may have such a name.
func revision(w word) bool {
	t := w.text
	switch {
	case !w.exact() || t == "" || strings.HasSuffix(t, "/"):
		return false
	case t == "HEAD" || strings.HasPrefix(t, "HEAD~") || strings.HasPrefix(t, "HEAD^") || strings.HasPrefix(t, "HEAD@"):
		return true
	case t[0] >= 'A' && t[0] <= 'Z': // Makefile
		return false
	}
	last := t[strings.LastIndexByte(t, '.')+1:]
	return len(last) == len(t) || last != "" && strings.Trim(last, "0123456789") == "" // release-1.4
}

// prints records whether a command prints only names of commits and branches, or numbers. No word
// of such output can be an option, because git allows no name that begins with a dash.
func (j *job) prints() {
	switch j.name {
	case "git":
		j.out.revs = j.namesCommits()
	case "head", "tail", "sort", "uniq", "tac": // whole lines
		whole := j.plain() == 0 && !j.p.has("-c", "--bytes")
		j.out.revs, j.out.digits = j.in.revs && whole, j.in.digits && whole
	case "grep":
		j.out.digits = j.p.has("-c", "--count") && j.plain() < 3 && !recursive(j)
		j.out.revs = j.in.revs && j.plain() == 1 && !j.p.has("-n", "-o", "-b", "--byte-offset", "--line-number")
	case "wc", "nproc":
		j.out.digits = j.plain() == 0
	case "seq", "date": // seq with numbers only, date with +%s
		j.out.digits = len(j.p.opts) == 0 && !slices.ContainsFunc(j.p.list, func(o operand) bool {
			return !o.w.exact() || !(j.name == "date" && o.w.text == "+%s") && (j.name == "date" || strings.Trim(o.w.text, "0123456789") != "")
		}) && len(j.p.list) > 0
	}
}

// namesCommits reports whether a git command prints only names of commits or branches.
func (j *job) namesCommits() bool {
	if len(j.entry.Words) < 2 {
		return false
	}
	switch j.entry.Words[1] {
	case "merge-base":
		return true
	case "rev-parse":
		return !j.p.has("--sq-quote", "--parseopt", "--git-path", "--show-prefix", "--show-toplevel") && (j.p.has("--short", "--verify") || j.plain() == 1)
	case "log", "branch", "rev-list":
		return j.onlyNames()
	}
	return false
}

// onlyNames reports whether a git command that lists commits or branches prints only their names.
// Other output, such as a commit message, could begin with a dash.
func (j *job) onlyNames() bool {
	for _, o := range j.p.opts {
		switch o {
		case "--format", "--all", "--grep", "-i", "-n", "--max-count", "--skip", "--author", "--since", "--until", "--after", "--before", "--reverse", "--merges",
			"--no-merges", "--first-parent", "--branches", "--tags", "--remotes", "--merged", "--no-merged", "--contains", "--show-current", "--count", "-r", "-S", "-G":
		default:
			if strings.Trim(o, "-0123456789") != "" {
				return false
			}
		}
	}
	for _, o := range j.p.list {
		if o.opt == "--format" {
			return o.w.exact() && (o.w.text == "%h" || o.w.text == "%H" || o.w.text == "%(refname:short)" || o.w.text == "%(objectname)")
		}
	}
	return j.p.has("--show-current") || j.entry.Words[1] == "rev-list"
}

// records adds the folders in which git makes commits, or gives names to existing commits.
func (s *scanner) records(j *job) {
	switch j.entry.Words[1] {
	case "commit":
		s.r.Commits = append(s.r.Commits, j.folders()...)
	case "tag", "notes":
		if j.does(floodmark.Write) {
			s.r.Names = append(s.r.Names, j.folders()...)
		}
	case "branch":
		if j.does(floodmark.Write) && (j.plain() > 1 || j.p.has("-f", "--force")) {
			s.r.Names = append(s.r.Names, j.folders()...)
		}
	case "fetch", "pull", "remote":
		if j.p.has("--refmap", "--update-head-ok", "-u") || slices.ContainsFunc(j.p.list, intoBranch) {
			s.r.Names = append(s.r.Names, j.folders()...)
		}
	}
}

// intoBranch reports whether an operand is «theirs:ours», unless ours is below refs/remotes.
func intoBranch(o operand) bool {
	if o.opt != "" || scripts.Repository(o.w.text) {
		return false
	}
	_, into, ok := strings.Cut(o.w.text, ":")
	return !o.w.exact() || ok && into != "" && !strings.HasPrefix(into, "refs/remotes/")
}

// folders returns the folders that the command may work in; an unknown folder is empty.
func (j *job) folders() []string {
	if len(j.st.dirs) == 0 {
		return []string{""}
	}
	return j.st.dirs
}

// forced treats «git add -f» like reading keys, because files with keys are usually ignored by git.
// If only files with an ending are named, they are judged by their names instead.
func (s *scanner) forced(j *job) {
	if !j.p.has("-f", "--force") {
		return
	}
	named := 0
	for _, o := range j.p.list {
		if o.opt == "" && o.w.exact() && !o.w.glob && strings.LastIndexByte(base(o.w.text), '.') > 0 {
			named++
		}
	}
	if named == 0 || named < j.plain() || j.p.has("-A", "--all") {
		s.add(Effect{Kind: Environment})
	}
}
