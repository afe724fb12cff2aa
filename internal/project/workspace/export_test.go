package workspace

// LimitNamed sets the limits of a search by name alone: folders, and names in one.
func (d *Disk) LimitNamed(folders, names int) { d.named.folders, d.named.names = folders, names }
