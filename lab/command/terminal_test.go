package command

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal of the kernel with the little of a terminal emulator that the tree needs: lines that break
// at the right edge, and are broken anew when the width changes, as most emulators do.
type terminal struct {
	t      *testing.T
	master *os.File
	// tty is the program's side.
	tty           *os.File
	width, height int
	// lines are all lines since the beginning, with those that have left the top.
	lines []string
	// row and column of the cursor. The row counts lines of the program, not the parts that a terminal breaks them
	// into.
	row, column int
}

func newTerminal(t *testing.T, width, height int) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	e := &terminal{t: t, master: master, tty: tty, lines: []string{""}}
	e.resizeTo(width, height)
	return e
}

func (e *terminal) resizeTo(width, height int) {
	e.t.Helper()
	e.width, e.height = width, height
	if err := unix.IoctlSetWinsize(int(e.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)}); err != nil {
		e.t.Fatal(err)
	}
}

// end marks the last output of the program; no text of the tree has it.
const end = "\x1b[0m"

// screenAfter returns the content of the screen when the program has written: rows without trailing spaces, without the
// empty ones at the end.
func (e *terminal) screenAfter(write func()) []string {
	e.t.Helper()
	done := make(chan error, 1)
	go func() {
		write()
		_, err := e.tty.WriteString(end)
		done <- err
	}()
	var text strings.Builder
	for piece := make([]byte, 4096); !strings.HasSuffix(text.String(), end); {
		n, err := e.master.Read(piece)
		if err != nil && err != io.EOF {
			e.t.Fatal(err)
		}
		text.Write(piece[:n])
	}
	if err := <-done; err != nil {
		e.t.Fatal(err)
	}
	e.feedText([]rune(strings.TrimSuffix(text.String(), end)))
	return e.screenRows()
}

func (e *terminal) feedText(text []rune) {
	e.t.Helper()
	for len(text) > 0 {
		r := text[0]
		text = text[1:]
		switch r {
		case '\r':
			e.column = 0
		case '\n':
			if e.row++; e.row == len(e.lines) {
				e.lines = append(e.lines, "")
			}
		case '\x1b':
			var number int
			i := 1
			for ; text[i] >= '0' && text[i] <= '9'; i++ {
				number = 10*number + int(text[i]-'0')
			}
			e.runControl(string(text[i]), number)
			text = text[i+1:]
		default:
			line := []rune(e.lines[e.row])
			for len(line) <= e.column {
				line = append(line, ' ')
			}
			line[e.column] = r
			e.lines[e.row] = string(line)
			e.column++
		}
	}
}

func (e *terminal) runControl(command string, number int) {
	e.t.Helper()
	switch command + strconv.Itoa(number) {
	case "H0":
		e.row, e.column = e.topLine(), 0
	case "J2":
		for i := e.topLine(); i < len(e.lines); i++ {
			e.lines[i] = ""
		}
	case "J0":
		e.lines[e.row] = string([]rune(e.lines[e.row])[:min(e.column, len([]rune(e.lines[e.row])))])
		e.lines = e.lines[:e.row+1]
	case "K0":
		e.lines[e.row] = string([]rune(e.lines[e.row])[:min(e.column, len([]rune(e.lines[e.row])))])
	default:
		if command != "A" {
			e.t.Fatalf("the test's terminal does not know the control sequence %d%s", number, command)
		}
		e.moveUp(number)
	}
}

// moveUp moves the cursor by rows of the screen, not beyond its top.
func (e *terminal) moveUp(rows int) {
	for ; rows > 0 && e.row > e.topLine(); rows -= len(e.rowsOfLine(e.row)) {
		e.row--
	}
}

// rowsOfLine returns the rows that a line takes.
func (e *terminal) rowsOfLine(line int) []string {
	text := []rune(e.lines[line])
	rows := []string{}
	for len(text) > e.width {
		rows, text = append(rows, string(text[:e.width])), text[e.width:]
	}
	return append(rows, string(text))
}

// topLine returns the first line of which something is seen.
func (e *terminal) topLine() int {
	top := len(e.lines) - 1
	for rows := len(e.rowsOfLine(top)); top > 0 && rows+len(e.rowsOfLine(top-1)) <= e.height; top-- {
		rows += len(e.rowsOfLine(top - 1))
	}
	return top
}

func (e *terminal) screenRows() []string {
	var rows []string
	for i := range e.lines {
		for _, row := range e.rowsOfLine(i) {
			rows = append(rows, strings.TrimRight(row, " "))
		}
	}
	rows = rows[max(0, len(rows)-e.height):]
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

func (e *terminal) String() string { return fmt.Sprintf("%d x %d", e.width, e.height) }
