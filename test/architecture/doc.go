// Package architecture checks that the repository keeps the shape that docs/design and CONTRIBUTING.md describe: who may
// import whom, what pure packages may not call, one doc comment per package, and files of a readable size. Its rules are
// the tables in rules.go; every finding says where and why.
package architecture
