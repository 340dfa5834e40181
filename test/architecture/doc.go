// Package architecture checks that the repository keeps the shape that docs/design and CONTRIBUTING.md describe: the
// allowed imports, the calls that pure packages may not make, one doc comment per package, and files of a readable
// size. Its rules are the tables in rules.go; every finding has its place and its reason.
package architecture
