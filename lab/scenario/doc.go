// Package scenario has the stories that a user would live through, told end to end: each test has a lab with the
// programs in bin/ for itself, and drives it with lab, kubectl and clusterctl. A lab that a story left as it was is the next one's.
//
// A story promises to stop what it started, also when it fails, and to show the ends of the lab's logs then. It looks at
// three things only: what the commands print, what the API servers have, and what the simulated Azure and its request log
// say.
package scenario
