// Package bookshell runs the shell blocks of the pages in a real shell, in which the programs that pages call are functions of a test. The
// shell parses quotes, variables, pipes and redirections as a reader's does, and a variable that nothing sets or a program that the test does
// not know fails the block. Run blocks until the shell has ended; it changes only the shell's folder.
package bookshell
