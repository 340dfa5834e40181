// Package unmodified runs programs that are built from their released modules as processes, beside a cluster of the provider. The programs are in
// bin/, where `make programs` builds them.
package unmodified
