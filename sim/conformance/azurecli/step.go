package main

import (
	"fmt"
	"strings"
)

// step is a line for bash with its expected result.
type step struct {
	number int
	line   string
	// prints is what must be printed; anything will do when it is empty.
	prints string
	// refused is the text that the error output must contain when the command is to fail.
	refused string
}

// parseSteps reads a list of lines `COMMAND`, `COMMAND # OUTPUT` or `COMMAND # error: PART OF THE COMPLAINT`. Lines that are empty or begin
// with # are for the reader.
func parseSteps(list string) ([]step, error) {
	var steps []step
	number := 0
	for line := range strings.Lines(list) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		command, expected, _ := strings.Cut(line, " # ")
		s := step{number: number, line: command}
		if part, ok := strings.CutPrefix(expected, "error: "); ok {
			s.refused = part
		} else {
			s.prints = expected
		}
		if !strings.HasPrefix(command, "az ") || strings.HasPrefix(expected, "error:") && s.refused == "" {
			return nil, fmt.Errorf("line %d: want az ... # OUTPUT, or az ... # error: TEXT: %s", number, line)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// findProblem returns the difference from the expected result, "" for none.
func (s step) findProblem(printed, complaint string, err error) string {
	switch {
	case s.refused != "" && err == nil:
		return fmt.Sprintf("is to be refused with %q and prints %q", s.refused, printed)
	case s.refused != "" && !strings.Contains(complaint, s.refused):
		return fmt.Sprintf("is to be refused with %q: %v\n%s", s.refused, err, complaint)
	case s.refused == "" && err != nil:
		return fmt.Sprintf("%v\n%s", err, complaint)
	case s.prints != "" && printed != s.prints:
		return fmt.Sprintf("prints %q, want %q", printed, s.prints)
	}
	return ""
}
