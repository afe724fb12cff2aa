package catalog

import "testing"

func shipped(t testing.TB) *Catalog {
	t.Helper()
	c, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestShippedIsReadable(t *testing.T) {
	if shipped(t).Hash().IsZero() {
		t.Error("no hash")
	}
}
