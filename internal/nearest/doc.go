// Package nearest finds, for a name that nothing has, the known names that its writer may have meant. It is pure; messages
// about VM sizes, locations and keys of patches use it, so that all of them suggest alike.
package nearest
