package main

// notHere says why the program does not run on a system; empty where it does.
// On Windows nobody can say who is at a socket, so nobody's yes would count.
func notHere(system string) string {
	if system != "windows" {
		return ""
	}
	return "floodmark: Windows is not supported: install Floodmark and your agents inside WSL (wsl --install), and run it there"
}
