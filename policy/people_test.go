package policy_test

import (
	"testing"

	"github.com/floodmark/floodmark/policy"
)

// Person finds a person by each name that a channel has proved, and by no other.
func TestPeople(t *testing.T) {
	s := load(t, user(`approvals: {admin: two, people: {anna: ["owner.sock:1000", "telegram:4711"], ben: ["token:ben", "certificate:user 7", "oidc:user 8"]}}`)).Settings("any")
	if !s.AdminTwo {
		t.Error("one is enough")
	}
	for name, want := range map[[2]string]string{
		{"owner.sock", "user 1000"}: "anna", {"owner.sock", "1000"}: "anna", {"telegram", "user 4711"}: "anna", {"token", "ben"}: "ben",
		{"certificate", "user 7"}: "ben", {"oidc", "user 8"}: "ben", // names are taken as they are
		{"console", "user 1000"}: "anna", {"console", "oidc:user 8"}: "ben", {"console", "oidc:user 1000"}: "", {"console", "oidc:1000"}: "", {"console", "user 8"}: "",
		{"oidc", "8"}: "", {"token", "user ben"}: "", {"certificate", "7"}: "",
		{"telegram", "user 1000"}: "", {"owner.sock", "anna"}: "", {"", "anna"}: "", {"token", ""}: "", {"owner.sock", "user 10001"}: "",
	} {
		if got, ok := s.Person(name[0], name[1]); got != want || ok != (want != "") {
			t.Errorf("%v: %q %v", name, got, ok)
		}
	}
	for _, text := range []string{"relax: true", "approvals: {admin: one}", `approvals: {people: {anna: ["telegram:4711"]}}`} {
		if load(t, user(text)).Settings("any").AdminTwo {
			t.Errorf("%s: it takes two", text)
		}
	}
	if _, ok := (policy.Settings{}).Person("telegram", "user 4711"); ok {
		t.Error("nobody is named")
	}
	if p, _ := policy.Load(project("approvals: {admin: one}")); p != nil {
		t.Error("a project says how many people it takes")
	}
}
