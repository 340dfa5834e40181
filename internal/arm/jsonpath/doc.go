// Package jsonpath has the one notation of a place in a body, which is a decoded JSON document, and the functions that read and change
// bodies by it.
//
// A path is a list of steps. The text of a path has two kinds of them:
//
//   - A member of an object follows a dot, as in "properties.addressSpace". A name that is empty, contains a dot or a bracket or starts
//     with a quote is in quotes: properties.nodeLabels."example.com/team". Two quotes in quotes stand for one.
//   - An element of a list is in brackets, as in "properties.probes[HTTPSProbe].name". It is identified by its name, else its ID, else
//     its service (the elements of properties.serviceEndpoints have no other name), else its text, else its position. Two closing
//     brackets in brackets stand for one. An entry of an object is in brackets, too, where its key is a name without case, as the ID in
//     identity.userAssignedIdentities.
//
// A pattern is a path that matches several places: "[]", "[*]" and ".*" match every element and every member, and a "*" behind a prefix
// every one with that prefix. Functions treat a path as a pattern only where they say so.
//
// Pointer and ParsePointer convert paths to and from the form in annotations, a JSON pointer with elements in brackets.
//
// The package is pure.
package jsonpath
