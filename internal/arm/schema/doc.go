// Package schema has Azure's published definitions of the bodies of resource types, by api-version: the properties, their types and
// values, and which of them a request may set.
//
// The package is pure: files are read from the binary, each once, when a version of its provider is first requested. In places the
// definitions are stricter than Azure (enumerations that are open in practice, bounds that are missing) and in others less strict
// (rules for names); recordings of Azure's traffic take precedence.
package schema
