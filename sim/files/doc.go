// Package files replaces files at once and locks them, for the simulator and the lab.
//
// Its functions do not block. They write only the file that they are given and, beside it, one with the ending ".new".
package files
