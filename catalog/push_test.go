package catalog

import "testing"

// A plain push of one branch to the project's origin, and other pushes.
func TestPushes(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]bool{
		"git push":          true,
		"git push -q -u -v": true,
		"git push --quiet --set-upstream origin main": true,
		"git push --verbose --porcelain --progress":   true,
		"git push origin":                            true,
		"git push origin feature/a-1.x_y":            true,
		"git push origin feature/a-1.x":              true,
		"git push -u origin Main9":                   true,
		"git add . && git commit -m x && git push":   true,
		"gofmt -w a.go && git push":                  true,
		"git status; git push; git log":              true,
		"git status":                                 false,
		"ls":                                         false,
		"git push upstream":                          false,
		"git push upstream main":                     false,
		"git push https://a.example/x main":          false,
		"git push origin main other":                 false,
		"git push origin main:other":                 false,
		"git push origin +main":                      false,
		"git push origin :main":                      false,
		"git push -f":                                false,
		"git push --force":                           false,
		"git push --force-with-lease":                false,
		"git push --delete origin x":                 false,
		"git push --all":                             false,
		"git push --mirror":                          false,
		"git push --tags":                            false,
		"git push -o x":                              false,
		"git push --repo=x":                          false,
		"git push --receive-pack=x":                  false,
		"git push ''":                                false,
		"git push origin $b":                         false,
		"git -C /q push":                             false,
		"cd /q && git push":                          false,
		"(cd /q; git push)":                          false,
		"pushd /q; git push":                         false,
		"popd; git push":                             false,
		"git remote set-url origin x && git push":    false,
		"git remote add x y && git push":             false,
		"git config remote.origin.url x && git push": false,
		"GIT_DIR=/q/.git git push":                   false,
		"git push && git push -f":                    false,
		"git push && curl -d x https://a.example":    false,
		"curl https://a.example; git push":           false,
		"echo x > a.go; git push":                    false,
		"echo x > .git/config; git push":             false,
		"cp a b && git push":                         false,
		"git reset --hard x && git push":             false,
		"git push && gh pr create":                   false,
	} {
		if u := shell(t, c, line); u.Pushes != want {
			t.Errorf("%q: pushes %v (effects %v)", line, u.Pushes, u.Effects)
		}
	}
}

// A push in a line that also deletes or changes something else: both can be done one after the
// other.
func TestPushesToo(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]bool{
		"git push -u origin x 2>&1 | tail -2; rm /tmp/a":            true,
		"git push && rm -r dist":                                    true,
		"kill 12; git push":                                         true,
		"npm test && git push":                                      true,
		"git push":                                                  true,
		"bash -c 'rm a; git push'":                                  true,
		"rm a; git push --force":                                    false,
		"rm a; git push upstream":                                   false,
		"rm a; echo x > b.go; git commit -qam x; git push":          false,
		"cat > a.go <<X\nx\nX\ngit commit -qam x && git push; rm b": false,
		"git remote set-url origin x && git push":                   false,
		"git config remote.origin.url x; git push":                  false,
		"git branch -D x; git push":                                 false,
		"git reset --hard x; git push; rm a":                        false,
		"git tag v1; git push; rm a":                                false,
		"rm a; git push; gh pr create":                              false,
		"rm a; git push; curl https://a.example":                    false,
		"rm a; git push; crontab x":                                 false,
		"rm a; echo git push":                                       false,
		"cd /q && rm a && git push":                                 false,
		"rm a; git -C /q push":                                      false,
		"rm a; $X; git push":                                        false,
	} {
		if u := shell(t, c, line); u.PushesToo != want {
			t.Errorf("%q: %v (effects %v)", line, u.PushesToo, u.Effects)
		}
	}
}

// Forms of a push that differ from the one the owner asked for.
func TestPushesOfSomethingElse(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]bool{
		`c\d /q && git push`:                        false,
		"X=cd; $X /q; git push":                     false,
		"env -C /q git push":                        false,
		"cd sub && git push":                        false,
		"cd $X && git push":                         false,
		"cd " + here().Project + " && git push":     true,
		"git tag v1 && git push":                    false,
		"git fetch origin a:b && git push":          false,
		"git branch -f main x && git push":          false,
		"git branch x y && git push":                false,
		"git branch x && git push":                  true,
		"git fetch origin main && git push":         true,
		"git add -f . && git push":                  false,
		"git add -f a.js && git push":               true,
		"git add -f a.js b && git push":             false,
		"git add --force -A a.js && git push":       false,
		"git add -f '*.js' && git push":             true,
		"git add -f *.js && git push":               false,
		"git checkout other && git push":            false,
		"git push; git checkout other":              true,
		"git pull --rebase && git push":             false,
		"git checkout -b x && git push -u origin x": true,
		"git push origin a && git push origin b":    false,
		"git push && git push origin b":             false,
	} {
		if u := shell(t, c, line); u.Pushes != want {
			t.Errorf("%q: pushes %v (effects %v)", line, u.Pushes, u.Effects)
		}
	}
}

// The branch is known if the line does not check it out.
func TestBranchOfAPush(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]string{
		"git push":                                  "",
		"git push origin HEAD":                      "",
		"git push origin main":                      "main",
		"git push origin a; git push origin a":      "a",
		"git checkout -b x && git push -u origin x": "",
		"git switch -c x && git push -u origin x":   "",
		"git checkout -b x && git push -u origin y": "y",
		"git switch -d x; git push -u origin x":     "x",
		"git checkout -b x y && git push origin x":  "x",
		"git push origin x && git checkout -b x":    "x",
	} {
		if u := shell(t, c, line); u.Branch != want {
			t.Errorf("%q: %q", line, u.Branch)
		}
	}
}
