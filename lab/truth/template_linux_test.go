package truth

import (
	"maps"
	"sync"
)

// template and secrets are needed for every call of every trace, so each map is made only once.
var (
	template = sync.OnceValue(templateFiles)
	secrets  = sync.OnceValue(secretFiles)
)

// ran is the command in every program and script of the home, so that running one of them always
// has an effect.
const ran = `echo ran >> "$HOME/ran.log"`

// templateFiles returns the files of the home with a small project in it. The secrets are made up.
func templateFiles() map[string]string {
	files := map[string]string{}
	maps.Copy(files, secretFiles())
	for name, text := range projectFiles() {
		files["project/"+name] = text
	}
	files[".bashrc"] = "# nothing\n"
	files[".profile"] = "# nothing\n"
	files[".gitconfig"] = "[user]\n\tname = Dev\n\temail = dev@firm.example\n[init]\n\tdefaultBranch = main\n[safe]\n\tdirectory = *\n"
	files["Documents/plan.txt"] = "a plan\nfor the year\n"
	files["Downloads/setup.sh"] = "#!/bin/sh\n" + ran + "\n"
	files["other/README.md"] = "another project\n"
	files["other/Makefile"] = "all:\n\t" + makeRan + "\n"
	files["bin/hello"] = "#!/bin/sh\n" + ran + "\n"
	files["notes.txt"] = "home notes\n"
	return files
}

const makeRan = `@echo ran >> "$$HOME/ran.log"`

func secretFiles() map[string]string {
	const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nexample\n-----END OPENSSH PRIVATE KEY-----\n"
	return map[string]string{
		".ssh/id_ed25519":        key,
		".ssh/id_rsa":            key,
		".ssh/config":            "Host build.example\n  User dev\n",
		".ssh/known_hosts":       "",
		".ssh/authorized_keys":   "",
		".aws/credentials":       "[default]\naws_access_key_id = EXAMPLE\naws_secret_access_key = example\n",
		".aws/config":            "[default]\nregion = example\n",
		".netrc":                 "machine git.example login dev password example\n",
		".npmrc":                 "//registry.example/:_authToken=example\n",
		".git-credentials":       "https://dev:example@git.example\n",
		".config/gh/hosts.yml":   "github.example:\n  oauth_token: example\n",
		".kube/config":           "apiVersion: v1\nkind: Config\n",
		".docker/config.json":    "{\"auths\":{}}\n",
		".gnupg/private-keys":    "example\n",
		".pypirc":                "[pypi]\npassword = example\n",
		".bash_history":          "ls\n",
		"project/.env":           "DATABASE_PASSWORD=example\n",
		"project/secrets.json":   "{\"key\":\"example\"}\n",
		"project/deploy/key.pem": key,
	}
}

func projectFiles() map[string]string {
	return map[string]string{
		"README.md":           "# Project\n\nA small project.\nTODO: write more\n",
		"AGENTS.md":           "Be careful.\n",
		"CLAUDE.md":           "Be careful.\n",
		"Makefile":            "all: build\nbuild:\n\t" + makeRan + "\ntest: build\n\t" + makeRan + "\nclean:\n\trm -f out.txt\nlint fmt install run dev check:\n\t" + makeRan + "\n.PHONY: all build test clean lint fmt install run dev check\n",
		"package.json":        "{\"name\":\"project\",\"version\":\"1.0.0\",\"scripts\":{\"build\":\"echo ran >> ~/ran.log\",\"test\":\"echo ran >> ~/ran.log\",\"lint\":\"echo ran >> ~/ran.log\",\"start\":\"echo ran >> ~/ran.log\",\"dev\":\"echo ran >> ~/ran.log\"}}\n",
		"go.mod":              "module project\n\ngo 1.20\n",
		"main.go":             "package main\n\nfunc main() { println(\"hello\") }\n",
		"main_test.go":        "package main\n\nimport \"testing\"\n\nfunc TestMain1(t *testing.T) {}\n",
		"src/app.py":          "import os\n\n\ndef main():\n    open(os.path.expanduser('~/ran.log'), 'a').write('ran')\n\n\nif __name__ == '__main__':\n    main()\n",
		"src/util.py":         "def add(a, b):\n    return a + b\n",
		"src/index.js":        "const fs = require('fs');\nfs.appendFileSync(process.env.HOME + '/ran.log', 'ran');\n",
		"src/helper.js":       "module.exports = { add: (a, b) => a + b };\n",
		"src/tool.pl":         "open(F, '>>', \"$ENV{HOME}/ran.log\"); print F 'ran';\n",
		"src/hello.c":         "int main(void) { return 0; }\n",
		"src/prog.awk":        "BEGIN { system(\"echo ran >> $HOME/ran.log\") }\n",
		"src/prog.sed":        "1e echo ran >> $HOME/ran.log\n",
		"src/deep/one.txt":    "one\n",
		"src/deep/two.txt":    "two\nTODO later\n",
		"tests/test_app.py":   "import unittest, os\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        open(os.path.expanduser('~/ran.log'), 'a').write('ran')\n",
		"script.sh":           "#!/bin/sh\n" + ran + "\n",
		"env.sh":              ran + "\nexport NAME=value\n",
		"run.bash":            "#!/bin/bash\n" + ran + "\n",
		"bin/tool":            "#!/bin/sh\n" + ran + "\n",
		"bin/git-tool":        "#!/bin/sh\n" + ran + "\n",
		"bin/pre-commit":      "#!/bin/sh\n" + ran + "\n",
		"data.csv":            "name,amount\nanna,3\nberta,4\ncarl,5\n",
		"data.json":           "{\"name\":\"example\",\"items\":[1,2,3],\"deep\":{\"a\":\"b\"}}\n",
		"config.yaml":         "name: example\nport: 8080\n",
		"notes.txt":           "one\ntwo\nthree\nfour\n",
		"old.txt":             "old\nstuff\n",
		"log.txt":             "INFO start\nERROR bad thing\nINFO end\nERROR worse\n",
		"list.txt":            "notes.txt\nold.txt\n",
		"commands.txt":        ran + "\n",
		"names with space.md": "spaces\n",
		"Dockerfile":          "FROM scratch\nCOPY . /\n",
		"docs/guide.md":       "# Guide\n\nSee README.\n",
		"docs/api.md":         "# API\n",
		"requirements.txt":    "flask\n",
		".gitignore":          "*.log\nbuild/\n.env\nsecrets.json\ndeploy/\n",
		"fix.patch":           "--- a/old.txt\n+++ b/old.txt\n@@ -1,2 +1,2 @@\n-old\n+new\n stuff\n",
		"encoded.txt":         "ZWNobyByYW4gPj4gIiRIT01FL3Jhbi5sb2ciCg==\n",
		"build/out.o":         "object\n",
		".vscode/tasks.json":  "{}\n",
	}
}

// templateScript makes the history and the archives of the project, which are not plain files.
const templateScript = `
git init -q
git add -A
git -c commit.gpgsign=false commit -q -m "first"
git branch feature
printf 'five\n' >> notes.txt
git commit -q -am "second"
git tag v1.0.0
git checkout -q feature
printf 'feature\n' > feature.txt
git add feature.txt
git commit -q -m "feature"
git checkout -q main
git update-index -q --refresh || true
git remote add origin https://git.example/dev/project.git
git config branch.main.remote origin
git config branch.main.merge refs/heads/main
printf 'changed\n' >> old.txt
printf 'untracked\n' > new.txt
tar czf archive.tar.gz docs src/deep
gzip -k -c notes.txt > notes.txt.gz
cd /.trace/template
rm -rf .trace
chown -R 61077:61077 .
find project -path project/.git -prune -o -type f -exec touch -d 2024-01-01 {} +
(cd project && git update-index -q --refresh || true; chown 61077:61077 .git/index)
chmod 700 .ssh
chmod 600 .ssh/*
`
