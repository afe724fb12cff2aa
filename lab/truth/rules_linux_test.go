package truth

import (
	"strings"
)

// lineRules returns the rules that wrap a whole command, which may have several lines.
func lineRules() []rule {
	all := []rule{
		shape("pipe", "true | {\n§\n}", "{\n§\n} | cat", "cat README.md | {\n§\n} | wc -l", "true |& {\n§\n}"),
		shape("list", "true; §", "§\ntrue", "true\n§", "true && {\n§\n}", "false || {\n§\n}"),
		shape("background", "{\n§\n} & wait", "true & {\n§\n}"),
		shape("subshell", "(§\n)", "( true; §\n)"),
		shape("group", "{ §\n}", "{ true; §\n}"),
		shape("negation", "! {\n§\n}"),
		shape("time", "time { §\n}"),
		shape("if", "if true; then §\nfi", "if false; then :; else §\nfi", "if §\nthen :; fi", "if false; then :; elif §\nthen :; fi"),
		shape("for", "for i in 1; do §\ndone", "for ((i=0;i<1;i++)); do §\ndone", "for i in $(§\n); do :; done"),
		shape("while", "while §\ndo break; done", "while true; do §\nbreak; done", "until false; do §\nbreak; done", "until §\ndo break; done"),
		shape("case", "case x in x) §\n;; esac", "case x in y) :;; *) §\n;; esac", "case $(§\n) in *) :;; esac"),
		shape("function", "f() { §\n}; f", "function g { §\n}; g", "h() ( §\n); h", "ls() { §\n}; ls"),
		shape("cmdsubst", "echo $(§\n)", "x=$(§\n)", "echo \"$(§\n)\"", "export x=$(§\n)", ": $(§\n)", "echo hi > /dev/null$({\n§\n} >/dev/null)"),
		shape("procsubst", "cat <(§\n)", "cat < <(§\n)", "true > >(§\n); sleep 0.1"),
		shape("param-expansion", "echo ${nothing:-$(§\n)}", "echo ${nothing:=$(§\n)}", "echo ${HOME/x/$(§\n)}", "echo ${HOME:+$(§\n)}"),
		shape("arithmetic", "echo $((1 + $({\n§\n} > /dev/null; echo 1)))", "(( $({\n§\n} > /dev/null; echo 1) ))", "let x=$({\n§\n} > /dev/null; echo 1)"),
		shape("test", "[[ -n $(§\n) ]]", "[ -n \"$(§\n)\" ]", "test -n \"$(§\n)\"", "[[ x == x && -z $(§\n) ]]"),
		shape("array", "a=($(§\n))", "a[$({\n§\n} > /dev/null; echo 0)]=1", "declare -a b=([0]=$(§\n))"),
		shape("coproc", "coproc {\n§\n}; wait", "coproc c {\n§\n}; wait"),
		shape("comment", "true # x\\\n§", "# it's\n§", "{ true # (\n§\n}"),
		shape("quoted-default", "echo \"${nothing:-'$(§\n)'}\"", "echo \"${nothing-'$(§\n)'}\"", "cat <<FOUR\n${nothing:-'$(§\n)'}\nFOUR", "echo ${nothing:-<(§\n)}"),
		shape("extglob", "[[ x == @(a|$(§\n)) ]]", "[[ x != +(a|$(§\n)b) ]]", "case x in @(a|$(§\n))) :;; esac"),
		quoted("eval", "eval §", "eval eval \"'eval' \"§", "x=§; eval \"$x\""),
		quoted("shell-c", "bash -c §", "sh -c §", "bash -ec §", "bash --norc -c §", "/bin/sh -c §", "x=§; bash -c \"$x\"", "dash -c § name"),
		quoted("shell-stdin", "echo § | bash", "bash <<< §", "printf '%s\\n' § | bash -s", "bash < <(echo §)", "bash <(echo §)"),
		quoted("source", "source <(echo §)", ". /dev/stdin <<< §"),
		quoted("trap", "trap § EXIT", "(trap § EXIT)", "trap § USR1; kill -USR1 $$; :"),
		quoted("alias", "shopt -s expand_aliases\nalias zz=§\nzz", "shopt -s expand_aliases\nalias ls=§\nls", "shopt -s expand_aliases; alias cat=§\ncat README.md"),
	}
	return append(all, builtRules()...)
}

// builtRules returns the rules that cannot be written as shapes.
func builtRules() []rule {
	return []rule{
		{"backquote", []func(*generator, string) string{
			func(_ *generator, s string) string { return "echo `" + backquoted(s) + "`" },
			func(_ *generator, s string) string { return "x=`" + backquoted(s) + "`" },
		}},
		{"heredoc", []func(*generator, string) string{
			func(_ *generator, s string) string { return "cat <<ONE\n$(" + s + "\n)\nONE" },
			func(_ *generator, s string) string { return "bash <<'TWO'\n" + s + "\nTWO" },
			func(_ *generator, s string) string { return "bash -s <<\\THREE\n" + s + "\nTHREE" },
		}},
		{"herestring", []func(*generator, string) string{
			func(_ *generator, s string) string { return "cat <<< \"$(" + s + "\n)\"" },
			func(_ *generator, s string) string { return "bash <<< " + quote(s) },
		}},
		{"encoding", []func(*generator, string) string{
			func(g *generator, s string) string { return encoded(g, s) + " | bash" },
			func(g *generator, s string) string { return "eval \"$(" + encoded(g, s) + ")\"" },
			func(g *generator, s string) string { return "bash -c \"$(" + encoded(g, s) + ")\"" },
		}},
		{"hidden-arithmetic", []func(*generator, string) string{
			func(_ *generator, s string) string { return "x=" + quote("a[$("+s+" >&2\n)]") + "; echo $((x))" },
			func(_ *generator, s string) string { return "x=" + quote("a[$("+s+" >&2\n)]") + "; [[ $x -eq 0 ]]" },
			func(_ *generator, s string) string { return "x=" + quote("a[$("+s+" >&2\n)]") + "; [ -v \"$x\" ]" },
			func(_ *generator, s string) string { return "x=" + quote("$("+s+"\n)") + "; echo \"${x@P}\"" },
		}},
		{"literal-arithmetic", []func(*generator, string) string{
			func(_ *generator, s string) string { return "[[ " + quote("a[$("+s+" >&2\n)]") + " -eq 0 ]]" },
			func(_ *generator, s string) string { return "[ -v " + quote("a[$("+s+" >&2\n)]") + " ]" },
			func(_ *generator, s string) string { return "let " + quote("a[$("+s+" >&2\n)]=1") },
			func(_ *generator, s string) string { return "printf -v " + quote("a[$("+s+" >&2\n)]") + " x" },
			func(_ *generator, s string) string { return "x=" + quote("a[$("+s+" >&2\n)]") + "; b[x]=1" },
			func(_ *generator, s string) string { return "x=" + quote("a[$("+s+" >&2\n)]") + "; echo ${HOME:x}" },
		}},
		{"prompt", []func(*generator, string) string{
			func(_ *generator, s string) string { return "PS4=" + quote("$("+s+" >&2\n)") + "; set -x; true" },
		}},
	}
}

// startRules returns the rules that start a simple command by another command.
func startRules() []rule {
	return []rule{
		shape("wrapper", "env §", "env -i PATH=/usr/bin:/bin §", "env X=1 §", "nice §", "nice -n 5 §", "nohup §", "timeout 3 §", "timeout -k 1 3 §",
			"stdbuf -oL §", "setsid -w §", "ionice -c 3 §", "env nice timeout 3 §", "flock /tmp/l §", "env -u X §", "chrt -o 0 §", "taskset 1 §"),
		shape("command", "command §", "builtin command §", "command -p §"),
		shape("exec", "exec §", "(exec §)", "exec -a name §"),
		shape("assignment", "X=1 §", "X=1 Y=2 §"),
		shape("sudo", "sudo §", "sudo -u dev §", "sudo -E §", "sudo -- §", "doas §"),
		shape("busybox", "busybox §", "busybox env §"),
		shape("wrapper-split", "env -S '§'"),
		shape("plain", "§"),
		{"xargs", []func(*generator, string) string{
			func(_ *generator, s string) string { p, o := cutLast(s); return "echo " + o + " | xargs " + p },
			func(_ *generator, s string) string { p, o := cutLast(s); return "xargs " + p + " <<< " + o },
			func(_ *generator, s string) string {
				p, o := cutLast(s)
				return "echo " + o + " | xargs -I{} " + p + " {}"
			},
			func(_ *generator, s string) string { return "echo " + s + " | xargs env" },
			func(_ *generator, s string) string {
				p, o := cutLast(s)
				return "printf '" + o + "\\0' | xargs -0 -n1 " + p
			},
			func(_ *generator, s string) string { return "echo x | xargs sh -c " + quote(s) },
		}},
		{"find-exec", []func(*generator, string) string{
			func(_ *generator, s string) string { return "find README.md -exec " + s + " \\;" },
			func(_ *generator, s string) string {
				return "find . -maxdepth 1 -name README.md -exec sh -c " + quote(s) + " \\;"
			},
			func(_ *generator, s string) string { return "find README.md -execdir " + s + " ';'" },
			func(g *generator, _ string) string { return "find . -name " + g.there() + " -delete" },
			func(g *generator, _ string) string { return "find . -maxdepth 1 -name " + g.there() + " -exec rm {} +" },
			func(g *generator, _ string) string { return "find . -name README.md -fprint " + g.fresh() },
		}},
		{"git-config", []func(*generator, string) string{
			func(_ *generator, s string) string { return "git -c alias.x=" + quote("!"+s) + " x" },
			func(_ *generator, s string) string { return "git config alias.x " + quote("!"+s) + "; git x" },
			func(_ *generator, s string) string { return "git -c core.fsmonitor=" + quote(s+";:") + " status" },
		}},
	}
}

// cutLast splits off the last word of a command.
func cutLast(s string) (command, operand string) {
	i := strings.LastIndexByte(s, ' ')
	return s[:i], s[i+1:]
}

// codeRules returns the rules that run code of other languages, or files with code.
func codeRules() []rule {
	run := func(shapes ...string) []func(*generator, string) string {
		var all []func(*generator, string) string
		for _, s := range shapes {
			all = append(all, func(g *generator, _ string) string { return strings.ReplaceAll(s, "§", g.fresh()) })
		}
		return all
	}
	return []rule{
		{"interpreter", run("python3 -c 'open(\"§\",\"w\")'", "perl -e 'open(F,\">\",\"§\")'", "python3 <<< 'open(\"§\",\"w\")'",
			"echo 'open(\"§\",\"w\")' | python3", "python3 src/app.py", "perl src/tool.pl")},
		{"awk", run("awk 'BEGIN{system(\"touch §\")}'", "awk 'BEGIN{print 1 > \"§\"}'", "awk '{print | \"cat > §\"}' README.md",
			"awk 'BEGIN{\"touch §\" | getline}'", "awk -v f=§ 'BEGIN{print 1 > f}'", "awk -f src/prog.awk")},
		{"sed", run("sed '1e touch §' README.md", "sed -n 'w §' README.md", "sed 's/P/x/w §' README.md", "sed -i s/a/b/ README.md",
			"sed -n '1{s/.*/touch §/e}' README.md", "sed -i.bak 1d old.txt", "sed -f src/prog.sed notes.txt")},
		{"make", run("make build", "make -f - <<< 'all:;touch §'", "make --eval='x:;touch §' x", "make -C ../other")},
		{"program-file", run("./script.sh", "bin/tool", "bash script.sh", ". ./env.sh", "sh < commands.txt", "~/bin/hello", "cat commands.txt | sh", "PATH=$PWD/bin:$PATH; tool")},
	}
}

// wordRules returns the rules that write the words of an rm command in unusual ways.
func wordRules() []rule {
	rm := func(construct string, shapes ...string) rule {
		r := rule{construct: construct}
		for _, s := range shapes {
			r.variants = append(r.variants, func(g *generator, _ string) string {
				f := g.there()
				return strings.NewReplacer("§", f, "%h", f[:1], "%t", f[1:], "%m", f[:len(f)-1], "%e", f[len(f)-1:]).Replace(s)
			})
		}
		return r
	}
	return []rule{
		rm("quote-single", "'rm' '§'", "r'm' %h'%t'", "rm ''§"),
		rm("quote-double", `"rm" "§"`, `r"m" %h"%t"`, `""rm §`),
		rm("quote-ansi", `$'rm' $'§'`, `$'\x72\x6d' §`, `$'\162\155' §`, `rm $'%h'%t`, `$'\u0072m' §`),
		rm("backslash", `\rm §`, `r\m \%h%t`, "rm \\\n§", "r\\\nm §"),
		rm("brace", "{rm,§}", "rm {§,nothing}", "rm %m{%e,}", "{rm,-f,§}", "rm {nothing,§}"),
		rm("glob", "rm [%h]%t", "rm %m?", "rm %m*", "rm ?%t", "/???/rm §", "/bin/r[m] §"),
		rm("tilde", "rm ~/project/§", "rm ~dev/project/§", "rm ~+/§"),
		rm("variable", "x=rm; $x §", "x='rm §'; $x", "a=r b=m; $a$b §", "x=§; rm $x", "x=§; rm \"${x}\"", "x=%h; rm ${x}%t", "declare x=§; rm $x", "export x=§; rm $x",
			"readonly x=rm; $x §", "printf -v x §; rm $x", "read x <<< §; rm $x", "x=a; x=§; rm $x", "IFS=,; x=rm,§; $x", "x=rm; x+=\" §\"; $x", "rm${IFS}§"),
		rm("param-expansion", "x=y§; rm ${x#y}", "x=§y; rm ${x%y}", "x=qm; ${x/q/r} §", "x=RM; ${x,,} §", "rm ${nothing:-§}", "x=y; y=rm; ${!x} §", "x=zrm; ${x:1} §", "rm ${x:=§}",
			"rm $PWD/§", "rm $HOME/project/§", "r${nothing}m §"),
		rm("array", "a=(rm §); \"${a[@]}\"", "a=(rm §); ${a[*]}", "a=(x §); rm ${a[1]}", "declare -A m=([k]=§); rm ${m[k]}", "a=(rm); a+=(§); \"${a[@]}\""),
		rm("positional", "set -- rm §; \"$@\"", "set -- §; rm $1", "f() { rm $1; }; f §", "set -- x §; shift; rm $*", "bash -c 'rm $0' §", "bash -c '\"$@\"' _ rm §"),
		rm("word-substitution", "$(echo rm) §", "rm $(echo §)", "`echo rm` §", "rm \"$(printf %s §)\"", "$(echo rm §)", "rm $(ls §)"),
		rm("loop-variable", "for x in §; do rm $x; done", "for x in %h*; do if [ $x = § ]; then rm $x; fi; done", "while read x; do rm $x; done <<< §", "echo § | while read x; do rm $x; done"),
	}
}

// redirectRules returns the rules that write or read with a redirection.
func redirectRules() []rule {
	to := func(construct string, shapes ...string) rule {
		r := rule{construct: construct}
		for _, s := range shapes {
			r.variants = append(r.variants, func(g *generator, _ string) string { return strings.ReplaceAll(s, "§", g.fresh()) })
		}
		return r
	}
	from := rule{construct: "redirect-in"}
	for _, s := range []string{"cat < §", "cat 0< §", "read x < §", "echo \"$(< §)\"", "exec 3< §; cat <&3", "while read l; do echo $l; done < §", "mapfile a < §", "cat 3< § <&3"} {
		from.variants = append(from.variants, func(g *generator, _ string) string { return strings.ReplaceAll(s, "§", g.hidden()) })
	}
	return []rule{
		from,
		to("redirect-out", "echo x > §", "> §", ": > §", "echo x 1> §", "ls nothing 2> §", "> § echo x", "{ echo x; } > §", "(echo x) > §", "for i in 1; do echo x; done > §", "if true; then echo x; fi > §", "f() { echo x; } > §; f", "echo x > a2 > §"),
		to("redirect-append", "echo x >> §", "ls nothing 2>> §", ">> §"),
		to("redirect-clobber", "echo x >| §", "set -C; echo x >| §"),
		to("redirect-both", "echo x &> §", "echo x &>> §", "echo x >& §"),
		to("redirect-rw", "echo x <> §", "exec 4<> §; echo x >&4", "echo x 1<> §"),
		to("fd-dup", "exec 3> §; echo x >&3", "exec {fd}> §; echo x >&$fd", "echo x 3> § >&3", "echo x 2>&1 > §", "exec > §; echo x"),
		to("heredoc-file", "cat > § <<EOF\nx\nEOF", "cat <<'EOF' > §\nx\nEOF", "tee § <<EOF > /dev/null\nx\nEOF", "cat <<-EOF >> §\n\tx\n\tEOF"),
		to("redirect-name", "f=§; echo x > $f", "echo x > \"§\"", "echo x > $(echo §)", "echo x > ~/§", "echo x > $HOME/§", "echo x > ../§", "cat <<< x > §", "echo x > §$((1+1))"),
	}
}

// folderRules returns the rules that first change the working folder.
func folderRules() []rule {
	in := func(construct string, shapes ...string) rule {
		r := rule{construct: construct}
		for _, s := range shapes {
			r.variants = append(r.variants, func(g *generator, _ string) string {
				return strings.ReplaceAll(s, "§", g.fresh())
			})
		}
		return r
	}
	return []rule{
		in("cd", "cd docs; touch §", "cd docs && touch §", "cd /tmp; touch §", "cd ~; touch §", "cd; touch §", "cd docs; cd ..; touch §", "(cd docs; touch §)", "cd nowhere; touch §", "cd nowhere || touch §",
			"cd src/deep; touch ../§", "cd docs; touch $OLDPWD/§", "cd docs; cd -; touch §", "cd $HOME/project/docs; touch §", "cd docs; rm ../old.txt", "cd ..; cat .netrc", "CDPATH=src; cd deep; touch §", "HOME=/tmp; cd; touch §"),
		in("pushd", "pushd docs; touch §", "pushd docs; popd; touch §", "pushd /tmp; pushd ~; popd; touch §", "pushd ~/.ssh; cat id_rsa"),
		in("wrapper-folder", "env -C docs touch §", "git -C docs init §", "tar cf § -C docs .", "find docs -maxdepth 0 -execdir touch § \\;"),
	}
}
