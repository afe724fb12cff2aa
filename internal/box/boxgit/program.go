package boxgit

import (
	"os"
	"path/filepath"
)

// Find returns the path of git on this machine. Environment variables do not change it.
func Find() string {
	for _, dir := range Folders() {
		at := filepath.Join(dir, "git")
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// Folders returns the folders of this machine's programs, which no project can write.
func Folders() []string {
	return []string{"/usr/bin", "/usr/local/bin", "/bin", "/opt/homebrew/bin"}
}
