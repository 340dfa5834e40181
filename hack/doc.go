// Package hack is for those who work on this repository. It has no code of its own: its tests run the scripts in
// hack/tools with a stand-in for Go, so they build nothing and change nothing.
package hack
