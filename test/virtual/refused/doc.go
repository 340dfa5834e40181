// Package refused takes settings back that Azure has refused: they were never there, so nothing of them is left to report. Time is virtual.
package refused
