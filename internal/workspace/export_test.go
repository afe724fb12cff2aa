package workspace

// LimitNamed sets how many folders a look at names alone goes through, and how many
// names one may have.
func (d *Disk) LimitNamed(folders, names int) { d.named.folders, d.named.names = folders, names }
