package boxgit

import (
	"os"
	"path/filepath"
)

// Find returns git, as it is installed on this machine. No variable has a say in which.
func Find() string {
	for _, dir := range Folders() {
		at := filepath.Join(dir, "git")
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// Folders are where programs of this machine lie that no project puts there.
func Folders() []string {
	return []string{"/usr/bin", "/usr/local/bin", "/bin", "/opt/homebrew/bin"}
}
