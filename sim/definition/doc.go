// Package definition holds bodies against Azure's published definitions of resource types: which properties has a type in
// the api-version that is spoken, of what JSON type and with which values, which must be there, and which are only Azure's to set?
//
// Its promise: what Azure has taken in recorded traffic has no mismatch, and what the definitions do not tell is nothing
// wrong. It is the simulator's own reader of the files of package definitions; a file is read once, when a version of its
// provider is first spoken.
package definition
