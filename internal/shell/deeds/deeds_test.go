package deeds_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/shell/deeds"
)

// said returns the explanation of a line. It has the form «to delete …» if the line does nothing
// else.
func said(line string) string {
	list, all := deeds.Of(line)
	var parts []string
	for _, d := range list {
		verb := d.Verbs
		if all {
			verb = "to " + d.Verb
		}
		for _, p := range d.Rest {
			if p.Foreign {
				verb += "«" + p.Text + "»"
			} else {
				verb += p.Text
			}
		}
		parts = append(parts, verb)
	}
	return strings.Join(parts, "; ")
}

// The words for a push are true for every way to write a push that deletes or forces.
func TestWhatAPushDoes(t *testing.T) {
	for line, want := range map[string]string{
		"git push":                                             "to push this branch to the place that git's settings name",
		"git push origin main":                                 "to push to «main» at «origin»",
		"git push -u origin HEAD:refs/heads/wip":               "to push to «wip» at «origin»",
		"git push origin main --force":                         "to push by force, over what is there, to «main» at «origin»",
		"git push -uf origin main":                             "to push by force, over what is there, to «main» at «origin»",
		"git push --force-with-lease=main origin main":         "to push by force, over what is there, to «main» at «origin»",
		"git push origin +main":                                "to push by force, over what is there, to «main» at «origin»",
		"git push -f":                                          "to push by force, over what is there, this branch to the place that git's settings name",
		"git push origin :a :b":                                "to delete «a» and «b» at «origin»",
		"git push -d origin a":                                 "to delete «a» at «origin»",
		"git push origin --delete a b c d":                     "to delete «a», «b», «c» and 1 more at «origin»",
		"git push origin +a b :c":                              "pushes to «b» at «origin»; pushes by force, over what is there, to «a» at «origin»; deletes «c» at «origin»",
		"git push --mirror https://x.example/y":                "to make all branches at «https://x.example/y» as they are here, by force",
		"git push --prune origin main":                         "pushes to «main» at «origin»; deletes the branches that are not here at «origin»",
		"git push origin +:":                                   "to push by force, over what is there, all branches to «origin»",
		"git push --all origin":                                "to push all branches to «origin»",
		"git push --tags origin":                               "to push all tags to «origin»",
		"git push -o ci.skip origin main":                      "to push to «main» at «origin»",
		"git push --forc origin main":                          "to push in a way that is not explained here",
		"git push $OPTIONS origin main":                        "to push in a way that is not explained here",
		"git -c remote.origin.push=+x push origin":             "to push in a way that is not explained here",
		"git push --repo=https://good.example/x.git evil main": "to push in a way that is not explained here",
		"git push --repo https://good.example/x.git evil main": "to push in a way that is not explained here",
		"git push --tags origin main":                          "pushes to «main» at «origin»; pushes all tags to «origin»",
		"git push --follow-tags origin main":                   "pushes to «main» at «origin»; pushes all tags to «origin»",
		"git push --follow-tags":                               "pushes this branch to the place that git's settings name; pushes all tags to the place that git's settings name",
		"git push -f --tags":                                   "to push by force, over what is there, all tags to the place that git's settings name",
		"git push --all --tags origin":                         "pushes all branches to «origin»; pushes all tags to «origin»",
		"git push --prune --tags origin":                       "to push in a way that is not explained here, over or without what is there",
		"git push origin tag v1":                               "to push in a way that is not explained here",
		"git push origin 'refs/heads/*'":                       "to push in a way that is not explained here",
		"git push '' evil":                                     "to push in a way that is not explained here",
		"git -C /work/x push origin main":                      "to push to «main» at «origin»",
		"go test ./... && git push origin main":                "pushes to «main» at «origin»",
		"git status":                                           "",
	} {
		got := said(line)
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", line, got, want)
		}
	}
}

// A push is settled unless something in the line may give the name of its remote another meaning.
func TestWhetherARemoteIsSettled(t *testing.T) {
	for line, want := range map[string]bool{
		"git push origin main": true,
		"git add -A && git commit -qm x && git tag v1 && git push origin v1": true,
		"git push -q origin main 2>&1 | tail -3":                             true,
		"git push origin main; ./run":                                        false,
		"for i in 1 2; do git push origin main; cp x .git/config; done":      false,
		"git push origin main > .git/config":                                 false,
		"git log --output=.git/config && git push origin main":               false,
		"git push":                                              true,
		"git push https://x.example/y main":                     true,
		"./run && git push origin main":                         false,
		"cd ../x && git push origin main":                       false,
		"git -C ../x push origin main":                          false,
		"git remote set-url origin x; git push origin main":     false,
		"git config remote.origin.url x && git push origin a":   false,
		"git -C ../x commit -qm x && git push origin main":      false,
		"git commit -qm x \"$(./run)\" && git push origin main": false,
		"git push origin $X":                                    false,
	} {
		list, _ := deeds.Of(line)
		if len(list) != 1 || !list[0].Push || list[0].Settled != want {
			t.Errorf("%s: %+v", line, list)
		}
	}
	if list, _ := deeds.Of("git push origin main"); list[0].To != "origin" {
		t.Errorf("%+v", list)
	}
}

// The deleted files are named. A line that could mean something else is not explained.
func TestWhatALineDeletes(t *testing.T) {
	for line, want := range map[string]string{
		"rm -rf build":                      "to delete «build»",
		`rm -f -- "-rf" 'a b' c\ d e`:       "to delete «-rf», «a b», «c d» and 1 more",
		"sudo rm -r /var/x":                 "to delete «/var/x»",
		"make && rm -rf build":              "deletes «build»",
		"rm -rf build > log":                "deletes «build»",
		"echo $(rm x)":                      "deletes «x»",
		"rm -rf $HOME/*":                    "to delete «$HOME/*»",
		"rm":                                "",
		"rm() { :; }; rm x":                 "",
		"alias rm=ls; rm x":                 "",
		"PATH=/tmp rm x":                    "",
		"eval rm x":                         "",
		"$X rm x":                           "",
		"rm a; rm b; rm c; rm d":            "",
		"rm 'x":                             "",
		"rm " + strings.Repeat("x", 16<<10): "",
		"ls":                                "",
	} {
		if got := said(line); got != want {
			t.Errorf("%.60s: %s, want %s", line, got, want)
		}
	}
}

// A token is replaced only if it is just sent in a header.
func TestWithoutTokens(t *testing.T) {
	for line, want := range map[string]string{
		`curl -H "Authorization: Bearer abc.def" https://x.example`:              `curl -H "Authorization: Bearer []" https://x.example`,
		`curl -s --header 'authorization: basic YTpi' -X POST https://x.example`: `curl -s --header 'authorization: basic []' -X POST https://x.example`,
		`curl https://x.example`:                                             `curl https://x.example`,
		`curl -d "Authorization: Bearer abc" https://x.example`:              `curl -d "Authorization: Bearer abc" https://x.example`,
		`curl -H "X-Run: abc" https://x.example`:                             `curl -H "X-Run: abc" https://x.example`,
		`curl -H "Authorization: Bearer $TOKEN" https://x.example`:           "",
		`curl $X -H "Authorization: Bearer abc" https://x.example`:           "",
		`curl -H "Authorization: Bearer abc" https://x.example | sh`:         "",
		`curl -H "Authorization: Bearer abc" https://x.example; rm -rf "$_"`: "",
		`curl -H "Authorization: Bearer abc" https://x.example > run.sh`:     "",
		`PATH=/tmp curl -H "Authorization: Bearer abc" https://x.example`:    "",
		`curl() { rm "$2"; }`: "",
		`./curl -H "Authorization: Bearer abc" https://x.example`: "",
		`xargs curl -H "Authorization: Bearer abc"`:               "",
		`curl 'x`: "",
	} {
		if got := deeds.WithoutTokens(line, "[]"); got != want {
			t.Errorf("%s\n%s, want\n%s", line, got, want)
		}
	}
}

func FuzzDeeds(f *testing.F) {
	f.Add("git push origin :a +b; rm -rf \"$x\"")
	f.Add(`curl -H "Authorization: Bearer abc"`)
	f.Fuzz(func(t *testing.T, line string) {
		list, all := deeds.Of(line)
		if len(list) > 3 || all && len(list) != 1 {
			t.Errorf("%d deeds, all: %v", len(list), all)
		}
		if bare := deeds.WithoutTokens(line, ""); len(bare) > len(line) {
			t.Errorf("%q", bare)
		}
	})
}
