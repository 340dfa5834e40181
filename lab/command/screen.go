package command

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// newScreen draws a tree in place on a terminal, and prints one line per change elsewhere.
func newScreen(out io.Writer) workload.Screen {
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return &liveScreen{out: file}
	}
	return &plainScreen{out: out, seen: map[string]string{}}
}

// liveScreen knows the picture that it drew and the size of the terminal then, because the next picture begins at the
// same place.
type liveScreen struct {
	out   *os.File
	lines int
	width int

	root    *workload.Object
	elapsed time.Duration
}

func (s *liveScreen) Show(root *workload.Object, elapsed time.Duration) {
	s.root, s.elapsed = root, elapsed
	_, height := s.terminalSize()
	// The cursor stands below the picture, so there is one line less than the terminal has.
	s.drawLines(fitLines(s.renderLines(), max(1, height-1)))
}

func (s *liveScreen) renderLines() []string {
	lines := []string{fmt.Sprintf("%.0f s", s.elapsed.Seconds())}
	if s.root != nil {
		lines = append(lines, treeLines(s.root)...)
	}
	return lines
}

func (s *liveScreen) terminalSize() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 1 || height < 1 {
		return 80, 24 // a terminal that does not tell its size
	}
	return width, height
}

// drawLines replaces the last picture.
func (s *liveScreen) drawLines(lines []string) {
	width, height := s.terminalSize()
	var frame strings.Builder
	switch {
	case s.lines == 0:
	case width < s.width || s.lines > height-1:
		// A terminal that became smaller has broken lines of the last picture into several or moved some out of sight,
		// each kind of terminal in its own way, so the begin of the picture is not known.
		frame.WriteString("\x1b[H\x1b[2J")
	default:
		fmt.Fprintf(&frame, "\x1b[%dA", s.lines)
	}
	for _, line := range lines {
		frame.WriteString(cutLine(line, width-1) + "\x1b[K\n")
	}
	frame.WriteString("\x1b[J")
	s.lines, s.width = len(lines), width
	fmt.Fprint(s.out, frame.String())
}

// Close leaves the whole picture, which may be longer than the terminal is high: it will not be replaced.
func (s *liveScreen) Close() {
	if s.lines > 0 {
		s.drawLines(s.renderLines())
	}
	s.lines = 0
}

// fitLines leaves lines out at the end and shows their number.
func fitLines(lines []string, room int) []string {
	if len(lines) <= room {
		return lines
	}
	return append(slices.Clone(lines[:room-1]), fmt.Sprintf("... %d more", len(lines)-room+1))
}

func cutLine(line string, width int) string {
	runes := []rune(line)
	switch {
	case len(runes) <= width:
		return line
	case width < 2:
		return ""
	}
	return string(runes[:width-1]) + "…"
}

// treeLines draws the cluster with the branches that `tree` has. What is ticked has nothing below it that is not: Cluster
// API calls a cluster available as soon as its first control-plane machine is.
func treeLines(root *workload.Object) []string {
	var lines []string
	var draw func(o *workload.Object, first, rest string)
	draw = func(o *workload.Object, first, rest string) {
		mark := "·"
		if o.IsComplete() {
			mark = "✔"
		}
		lines = append(lines, first+escapeControls(fmt.Sprintf("%s %s %s: %s", mark, o.Kind, o.Name, o.Status)))
		for i, child := range o.Children {
			if i == len(o.Children)-1 {
				draw(child, rest+"└─", rest+"  ")
			} else {
				draw(child, rest+"├─", rest+"│ ")
			}
		}
	}
	draw(root, "", "")
	return lines
}

type plainScreen struct {
	out  io.Writer
	seen map[string]string
}

func (s *plainScreen) Show(root *workload.Object, elapsed time.Duration) {
	now := map[string]string{}
	if root != nil {
		root.Walk(func(o *workload.Object, depth int) {
			key := escapeControls(o.Kind + " " + o.Name)
			status := escapeControls(o.Status)
			if o.IsComplete() {
				status += " ✔"
			}
			now[key] = status
			if s.seen[key] != status {
				fmt.Fprintf(s.out, "%6.1f s  %s%s: %s\n", elapsed.Seconds(), strings.Repeat("  ", depth), key, status)
			}
		})
	}
	for key := range s.seen {
		if _, ok := now[key]; !ok {
			fmt.Fprintf(s.out, "%6.1f s  %s: gone\n", elapsed.Seconds(), key)
		}
	}
	s.seen = now
}

func (s *plainScreen) Close() {}
