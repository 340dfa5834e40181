// Package traced tests the traces of a manager in virtual time.
package traced
