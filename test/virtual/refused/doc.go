// Package refused has Azure or the provider refuse settings of AKS clusters. Settings that are taken back were never there, so nothing of
// them is left to report. Time is virtual.
package refused
