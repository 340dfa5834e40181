// Package reliability kills the manager at every call that it makes, in virtual time. Whatever it was at, in the end everything is as if
// nothing had happened.
//
// Somebody else edits what the clusters have in Azure, resource by resource, at rest and in the midst of creation: what becomes of that is a table, and nothing else becomes of it.
//
// Each test tries a part of its rows, the same at each run, of one story; -every 40 tries one of 40 rows of all stories, and -every 1 all.
package reliability
