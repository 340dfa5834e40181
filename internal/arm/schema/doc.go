// Package schema knows what Azure's published definitions say of the bodies of resource types, by api-version: which
// properties there are, of what type and with which values, and which of them a request may set.
//
// The package is pure: files are read from the binary, each once, when a version of its provider is first asked for. The
// definitions say more than Azure enforces in places (enumerations that are open in truth, bounds that are missing) and less in
// others (rules for names); where recordings of Azure's traffic differ, they win.
package schema
