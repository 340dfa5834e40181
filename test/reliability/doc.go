// Package reliability kills the manager at every call that it makes, in virtual time. Whatever its work was, the end is
// the same as without the kill.
//
// Other users edit the resources of clusters in Azure, one by one, at rest and during the creation. A table has the
// outcome of each edit, and nothing else changes.
//
// Each test tries a part of its rows, the same at each run, of one story; -every 40 tries one of 40 rows of all
// stories, and -every 1 all.
package reliability
