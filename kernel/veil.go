package kernel

// veiled returns text without the credentials in it.
func (st *step) veiled(text string) string { return st.r.veils().Text(st.r.secrets, text) }

// veiledLine is the same for a command line, in which no command is hidden.
func (st *step) veiledLine(text string) string { return st.r.veils().Line(st.r.secrets, text) }
