// Package logged tests the log of a manager in virtual time.
package logged
