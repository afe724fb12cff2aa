package catalog

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

// What stands in front of a command does not hide it.
func TestCommandBehindItsWrappers(t *testing.T) {
	for line, want := range map[string]string{
		"ls a":                   "ls a",
		"then ls":                "ls",
		"! time ls":              "ls",
		"A=1 B= ls a=b":          "ls a=b",
		"=a ls":                  "=a ls",
		"a-b=c ls":               "a-b=c ls",
		"./a=c ls":               "./a=c ls",
		"A=1":                    "",
		"sudo -u x sh a":         "sh a",
		"sudo -E curl u":         "curl u",
		"sudo tee a":             "tee a",
		"sudo ls a":              "sudo ls a",
		"env A=1 /bin/sh -c x":   "/bin/sh -c x",
		"A=1 sudo -u x bash":     "bash",
		"sudo env bash curl":     "bash curl",
		"ls sh":                  "ls sh",
		"echo sh":                "echo sh",
		"timeout 5 python3.12 x": "python3.12 x",
		"sudo":                   "sudo",
	} {
		if p := only(t, line); strings.Join(p.words, " ") != want {
			t.Errorf("%s: %q, want %q", line, p.words, want)
		}
	}
	for word, want := range map[string]string{"sh": "sh", "/bin/SH": "sh", `C:\x\Cmd.EXE`: "cmd", "": "", "a/": ""} {
		if got := baseName(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

// What other commands print is a program for some, and data for others.
func TestCommandsThatRunTheirInput(t *testing.T) {
	for line, want := range map[string]bool{
		"sh":                           false,
		"sh a.sh":                      false,
		"eval x":                       false,
		"| eval":                       true,
		"| iex":                        true,
		"| cat":                        false,
		"| sh":                         true,
		"| sh a.sh":                    true,
		"sh -c $x":                     true,
		"sh $x":                        true,
		"sh a.sh $x":                   false,
		"sh /dev/stdin $x":             true,
		"sh /proc/self/fd/0 $x":        true,
		"sh '' $x":                     true,
		"cat $x":                       false,
		"cat ''":                       false,
		"$x":                           false,
		"$(a)":                         true,
		"eval $x":                      true,
		"| python3":                    true,
		"| python3 -":                  true,
		"| python3 a.py":               false,
		"| python3 -c 'print(1)'":      false,
		"| python3 -c 'exec(x)'":       true,
		"| python3 -c ''":              true,
		"| python3 -c":                 true,
		"| python3 -x 'print(1)'":      true,
		"| python3 -m json.tool":       false,
		"python3 -c 'print(1)' $x":     true,
		"python3 a.py $x":              false,
		"python3 -c $x":                true,
		"| perl -ne 'PRINT `id`'":      true,
		"| node -e 'eval(x)'":          true,
		"| ruby -e 'INSTANCE_eval(x)'": true,
	} {
		list := parts("true " + line)
		if !strings.HasPrefix(line, "|") {
			list = parts(line)
		}
		p := list[len(list)-1]
		if got := p.runsInput(); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// A file that was fetched is found again when it is started.
func TestCommandsThatStartAFile(t *testing.T) {
	got := map[string]bool{}
	only(t, "curl -o a.sh u/b > x/C.EXE").fetched(got)
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"-o", "a.sh", "b", "c"}) {
		t.Errorf("fetched %q", names)
	}
	got["sh"] = true
	for line, want := range map[string]bool{
		"> x":                  false,
		"./a.sh":               true,
		"x/a.sh -v":            true,
		"a.sh":                 false,
		"./other":              false,
		"sh a.sh":              true,
		"sh a.sh arg":          true,
		"sh arg a.sh":          false,
		"sh -x a.sh":           true,
		"sh":                   false,
		"/bin/sh":              false,
		"source a.sh":          true,
		". a.sh":               true,
		"chmod +x a.sh":        true,
		"chmod a.sh other":     false,
		"cat a.sh":             false,
		"python3 b":            true,
		"python3 -m b":         false,
		"python3 -c b a.sh":    false,
		"python3 -c 'exec' b":  true,
		"sh /bin/sh":           false,
		"bash -c sh":           false,
		"/usr/bin/python3 a.b": false,
	} {
		p := only(t, line)
		if p.starts(got) != want {
			t.Errorf("%s: %v", line, !want)
		}
	}
}

// Texts that a shell reads as commands are read as commands.
func TestScriptsAmongTheWords(t *testing.T) {
	for line, want := range map[string]string{
		"eval a 'b;c'":           "a b;c",
		"iex a":                  "a",
		"sh -c 'a b'":            "a b",
		"sh -c a":                "",
		"sh -c 'a;b' 'c|d' e":    "a;b+c|d",
		"ssh h 'a b'":            "a b",
		"docker exec c sh 'a b'": "a b",
		"watch 'a b'":            "a b",
		"cat 'a b'":              "",
		"sh <<E\na\nE":           "a\n",
		"cat <<E\na\nE":          "",
		"> f":                    "",
	} {
		p := only(t, line)
		if got := strings.Join(p.scripts(), "+"); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Scripts inside scripts are read as deep as the limit says.
func TestDepthOfScripts(t *testing.T) {
	c := shipped(t)
	for depth, want := range map[int]bool{1: true, maxScripts: true, maxScripts + 1: false} {
		j := judge{catalog: c, at: here(), base: here().Project}
		j.parts([]part{{words: nested(depth)}}, maxScripts)
		if got := j.guards&isInstructs != 0; got != want {
			t.Errorf("%d scripts deep: found %v", depth, got)
		}
	}
}

// nested is a command that writes a guarded file, in n scripts.
func nested(n int) []string {
	script := "echo > AGENTS.md"
	for range n - 1 {
		script = "sh -c \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(script) + "\""
	}
	return []string{"sh", "-c", script}
}

// A command line goes where it says, and is judged from there.
func TestFolderOfACommandLine(t *testing.T) {
	c := shipped(t)
	project := "/home/u/work/app"
	for line, want := range map[string]guard{
		"cd ~; tee .bashrc":          isInstructs,
		"pushd ~; tee .bashrc":       isInstructs,
		"popd ~; tee .bashrc":        0,
		"cd; tee .bashrc":            0,
		"tee .bashrc; cd ~":          0,
		"cp -r x/app /home/u/work/":  isInstructs,
		"mv x/app ..":                isInstructs,
		"mv x/other /srv/other/sub":  0,
		"git clone u:x sub":          0,
		"mv a.txt b":                 0,
		"tee ''":                     0,
		"cat .claude/settings.json":  0,
		"tee .claude/settings.json":  isProtected,
		"tee .env":                   0,
		"sh -c 'cd ~'; tee .bashrc":  0,
		"cd /; cp x/home .":          0,
		"cd ~/work; cp -r x/app ./.": isInstructs,
		"cp -r x/. .":                0,
	} {
		j := judge{catalog: c, at: here(), base: project}
		j.shell(line)
		if j.guards != want {
			t.Errorf("%s: %04b, want %04b", line, j.guards, want)
		}
		if j.installs || j.base != project {
			t.Errorf("%s: the worst %v, in %s", line, j.installs, j.base)
		}
	}
}

// What is beyond a limit is not looked at: it counts as the worst already.
func TestNothingIsLookedAtBeyondALimit(t *testing.T) {
	c := shipped(t)
	for _, line := range []string{
		"tee AGENTS.md" + strings.Repeat(" ", MaxShellBytes), "tee" + strings.Repeat(" x", maxTargets) + " AGENTS.md",
	} {
		j := judge{catalog: c, at: here(), base: here().Project}
		if j.shell(line); j.guards != 0 || !j.installs {
			t.Errorf("%.20s: %04b, the worst %v", line, j.guards, j.installs)
		}
	}
	j := judge{catalog: c, at: here(), base: "/home/u/.config/floodmark"}
	if j.shell("tee ''"); j.guards != 0 || j.targets != 0 {
		t.Errorf("an empty name: %04b, %d targets", j.guards, j.targets)
	}
	// The bytes of all paths that are mentioned, each with its folder.
	for words, want := range map[string]bool{"/ /": false, "/ / /home/u/.ssh/id_rsa": true} {
		j := judge{catalog: c, at: here(), base: strings.Repeat("a", maxMentioned/2-1)}
		if j.mentioned(words); j.installs != want || j.guards != 0 {
			t.Errorf("%s: the worst %v, %04b", words, j.installs, j.guards)
		}
	}
}

// A folder deeper than any path is not followed.
func TestFolderThatIsTooDeep(t *testing.T) {
	for size, worst := range map[int]bool{MaxPathBytes - 2: false, MaxPathBytes - 1: true} {
		j := judge{at: here()}
		folder := strings.Repeat("a", size)
		want := "/b/" + folder
		if worst {
			want = "/b"
		}
		if got := j.enter(folder, "/b"); got != want || j.installs != worst {
			t.Errorf("%d bytes: %.9s, the worst %v", size, got, j.installs)
		}
	}
	j := judge{at: here()}
	is := j.folder("/srv/x/y")
	for name, want := range map[string]bool{
		"/": true, "/srv": true, "/srv/x/y": true, "..": true, ".": true, "a": false, "/srv/z": false,
		"/home": true, "~": true, "~/work": true, "/home/u/work/app": true, "/home/u/work/app/x": false,
		strings.Repeat("/", MaxPathBytes): true, strings.Repeat("/", MaxPathBytes+1): false,
	} {
		if is(name) != want {
			t.Errorf("%.20s is a folder: %v", name, !want)
		}
	}
}

// Commands that print the environment, the history or a store of secrets.
func TestCommandsThatTellSecrets(t *testing.T) {
	for line, want := range map[string]bool{
		"> x": false, "ls": false, "printenv": true, "history": true, "fc -l": true,
		"env": true, "env -0": true, "env A=1": true, "env make": false, "env ''": true,
		"set": true, "set -e": false, "export": true, "export -p": true, "export A": false, "declare -p": true,
		"sudo env": true, "sudo /usr/bin/printenv": true, "sudo": false, "sudo ls": false, "sudo env ls": false,
		"systemctl show-environment": true, "systemctl show-environment x": true, "systemctl status show-environment": false, "systemctl": false, "launchctl getenv": true,
		"ps": false, "ps e": true, "ps auxe": true, "ps -e": false, "ps aux": false, "ps ''": false, "ps aux e": false,
		"jq -n x": true, "jq -rn x": true, "jq --null-input x": true, "jq --from-file x": true, "jq --name x": false, "jq - x": false,
		"jq .a b": false, "jq env.A b": true, "jq '[env]' b": true, "jq .env b": false, "jq .a_env b": false, "jq xenv b": false,
		"jq 9env b": false, "jq '.env|env' b": true, "jq INPUT b": true, "jq .zenv b": false, "jq Zenv b": false,
		"kubectl get Secrets": true, "kubectl get pods": false, "ls secret": false,
		"echo $MY_TOKEN": true, "echo MY_TOKEN": false, "echo $HOME": false, "printf x $dbPassword": true, "cat $MY_TOKEN": false,
		"python3 -c 'os.environ'": true, "python3 -c 'os.name'": false, "awk ENVIRON": true, "node -e process.env": true, "pwsh 'dir Env:'": true,
	} {
		p := &parts(line)[0]
		if p.tells() != want {
			t.Errorf("%s: %v", line, !want)
		}
	}
	c := shipped(t)
	for line, want := range map[string]floodmark.Secrecy{"ls; env": floodmark.Secret, "ls; make": floodmark.Public} {
		j := judge{catalog: c, at: here(), base: here().Project, most: floodmark.Public}
		if j.shell(line); j.most != want {
			t.Errorf("%s: %v", line, j.most)
		}
	}
}
