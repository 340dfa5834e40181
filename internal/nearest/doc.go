// Package nearest suggests known names that are similar to an unknown one. It is pure; messages
// about VM sizes, locations and keys of patches use it, so that all of them suggest alike.
package nearest
