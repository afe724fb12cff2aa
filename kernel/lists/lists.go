// Package lists changes the lists that a session's state keeps.
package lists

import "slices"

// AddNew adds an element unless the list has it.
func AddNew[T comparable](list []T, one T) []T {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}

// Without leaves out some elements. An emptied list is nil, like a new one.
func Without[T any](list []T, gone func(T) bool) []T {
	if list = slices.DeleteFunc(list, gone); len(list) == 0 {
		return nil
	}
	return list
}

// Last keeps at most n elements from the end.
func Last[T any](list []T, n int) []T {
	if extra := len(list) - n; extra > 0 {
		return slices.Delete(list, 0, extra)
	}
	return list
}
