package shellscan

import (
	"slices"
	"strings"
)

// hides reports a variable that makes the shell, or programs it starts, run
// something else, wherever it is set: most are in every environment already.
func hides(name string) bool {
	switch name {
	case "PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "HOME", "SHELL", "EDITOR", "VISUAL", "PAGER",
		"CDPATH", "GLOBIGNORE", "FPATH", "fpath", "path", "BASH_ALIASES", "BASH_CMDS", "ZDOTDIR", "BROWSER", "TAR_OPTIONS", "LESS", "MAKEFLAGS", "GNUMAKEFLAGS",
		"HISTFILE", "BASH_XTRACEFD", "SSH_AUTH_SOCK", "PS0", "PS1", "PS2", "PWD", "OLDPWD", "NULLCMD", "READNULLCMD", "TMOUT", "MAIL", "MAILPATH":
		return true
	}
	for _, head := range [...]string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_"} {
		if strings.HasPrefix(name, head) && !strings.HasPrefix(name, "GIT_AUTHOR_") && !strings.HasPrefix(name, "GIT_COMMITTER_") {
			return name != "GIT_TERMINAL_PROMPT"
		}
	}
	return false
}

// hidesExported reports a variable that does so when a program gets it.
func hidesExported(name string) bool {
	if hides(name) {
		return true
	}
	switch name {
	case "NODE_ENV", "NODE_NO_WARNINGS", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONHASHSEED", "GOOS", "GOARCH", "GOARM",
		"RUST_BACKTRACE", "RUST_LOG", "CARGO_TERM_COLOR", "GOMAXPROCS", "GOTRACEBACK", "NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES":
		return false
	case "CC", "CXX", "CPP", "LD", "AR", "AS", "FC", "RUSTC", "GOROOT", "GOBIN", "GOENV", "GOPROXY", "GOPATH", "GOSUMDB", "GONOSUMDB", "GONOSUMCHECK", "GOPRIVATE", "NODE", "RUBY", "PERL", "JAVA", "WGETRC", "INPUTRC", "TERMINFO", "LOCPATH", "PGSERVICEFILE":
		return true
	}
	upper := strings.ToUpper(name)
	for _, head := range [...]string{
		"PYTHON", "PERL", "RUBY", "NODE", "NPM_", "YARN_", "PNPM_", "PIP_", "UV_", "CARGO_", "RUSTUP_", "JAVA", "_JAVA", "MAVEN", "GRADLE", "DOCKER_", "KUBE", "AWS_",
		"AZURE_", "GOOGLE_", "CLOUDSDK_", "GH_", "GITHUB_", "GITLAB_", "SSL_", "CURL_", "LESS", "MAN", "GREP_", "RIPGREP_", "XDG_", "FZF_", "CLAUDE", "CODEX", "GEMINI",
		"COPILOT", "OPENCODE", "OPENCLAW", "CURSOR", "FLOODMARK", "ANTHROPIC_", "OPENAI_", "PG", "MYSQL_", "TF_", "HELM_", "VAULT_", "GNUPG", "SUDO_", "GCONV", "BUNDLE_", "GEM_",
		"COMPOSER_", "PHP", "LUA", "DENO_", "BUN_", "ZSH", "FISH", "KSH",
	} {
		if strings.HasPrefix(upper, head) {
			return true
		}
	}
	for _, part := range [...]string{
		"PATH", "PRELOAD", "OPTIONS", "OPTS", "FLAGS", "PROXY", "EDITOR", "PAGER", "SHELL", "COMMAND", "CMD", "CONFIG", "WRAPPER", "RCFILE", "HOOK", "STARTUP",
		"PLUGIN", "MODULE", "LOADER", "ENDPOINT", "_HOST", "SERVER", "_URL", "HOME", "PROGRAM", "EXEC", "SOCK", "BROWSER", "ASKPASS", "INIT",
	} {
		if strings.Contains(upper, part) {
			return true
		}
	}
	return false
}

// Hides reports a variable that makes a program which gets it run or read
// something else. «*» is every variable.
func Hides(name string) bool { return name == allVariables || hidesExported(name) }

const (
	// allVariables is what stands in Report.Sets for an environment of its own.
	allVariables = "*"
	// maxSets bounds the names that are kept; more of them are all.
	maxSets = 64
)

// sets notes that a variable is set or taken away.
func (s *scanner) sets(name string) {
	if len(s.r.Sets) >= maxSets {
		name = allVariables
	}
	if !slices.Contains(s.r.Sets, name) {
		s.r.Sets = append(s.r.Sets, name)
	}
}

// anew notes a command that starts another one in an environment of its own.
func (s *scanner) anew(j *job) {
	switch j.name {
	case "sudo", "doas": // somebody else's
		s.sets(allVariables)
	case "env":
		if j.p.has("-i", "-", "--ignore-environment") {
			s.sets(allVariables)
		}
		for _, o := range j.p.list {
			if o.opt == "-u" || o.opt == "--unset" {
				s.sets(o.w.text)
			}
		}
	}
}

// harmlessValue reports a value that makes such a variable do nothing.
func harmlessValue(name string, value []word) bool {
	if len(value) != 1 || !value[0].exact() {
		return false
	}
	switch name {
	case "PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER", "AWS_PAGER", "GIT_EDITOR", "EDITOR", "GIT_SEQUENCE_EDITOR":
		return slices.Contains([]string{"cat", "", "less", "true", ":", "more"}, value[0].text)
	case "NODE_ENV", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT":
		return true
	case "GOFLAGS":
		return slices.Contains([]string{"-mod=mod", "-mod=readonly", "-count=1", ""}, value[0].text)
	}
	return false
}
