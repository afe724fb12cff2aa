package config

import (
	"fmt"
	"os/user"
	"strconv"
)

// UserNumbers returns the numbers of the users whose agents may report. names are user names or
// numbers.
func UserNumbers(names []string) ([]int, error) {
	var list []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			list = append(list, n)
			continue
		}
		u, err := user.Lookup(name)
		if err != nil {
			return nil, fmt.Errorf("there is no user %q on this machine", name)
		}
		n, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, fmt.Errorf("user %q has no number here", name)
		}
		list = append(list, n)
	}
	return list, nil
}
