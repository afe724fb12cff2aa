package main

// An ownPolicy is the owner's policy as it lies there.
type ownPolicy struct {
	path, name, text string
	there, unread    bool
}
