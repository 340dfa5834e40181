// Package compare tells how an observed Azure resource differs from what a plan sends, and builds the body of the PUT
// that repairs it. Everything in it is pure.
package compare
