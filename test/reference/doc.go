// Package reference makes the pages of docs/book/reference from the code: kinds and their fields, conditions and reasons, events, annotations
// and labels, metrics, flags and variables, errors of Azure, and commands.
//
// Its promise: pages are pure functions of the code, the definitions and the templates, so a test can compare them with the files. The pages
// of the lab and the simulator are made by tests in their own packages, with the package commands.
package reference
