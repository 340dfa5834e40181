package catalog

// Machines are what a case keeps in Azure, and for how long.
type Machines struct {
	Hours float64
	// Sizes has the number of virtual machines of each size.
	Sizes map[string]int
}
