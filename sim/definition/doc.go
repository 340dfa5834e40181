// Package definition checks bodies against Azure's published definitions of resource types: which properties a type
// has in the request's api-version, with which JSON types and values, which are required, and which only Azure may
// set.
//
// Its promise: a body that Azure has accepted in recorded traffic has no mismatch, and a property on which the
// definitions are silent is accepted. It is the simulator's own reader of the files of package definitions; a file is
// read once, when a version of its provider is first used.
package definition
