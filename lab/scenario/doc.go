// Package scenario has stories of users from the first command to the last: each test has a lab with the programs in
// bin/ for itself, and drives it with lab, kubectl and clusterctl. The next story gets a lab that a story left
// unchanged.
//
// A story stops everything that it started, also when it fails, and prints the ends of the lab's logs then. It reads
// three sources only: the output of the commands, the objects in the API servers, and the simulated Azure with its
// request log.
package scenario
