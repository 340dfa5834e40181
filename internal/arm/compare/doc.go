// Package compare computes the differences between an observed Azure resource and its desired state, and builds the body of the PUT
// that repairs it. All of it is pure.
package compare
