package command

import (
	"fmt"
	"io"
	"os"
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

type liveScreen struct {
	out   *os.File
	lines int
}

func (s *liveScreen) Show(root *workload.Object, elapsed time.Duration) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 20 || height < 5 {
		width, height = 120, 50 // a terminal that does not tell its size
	}
	lines := []string{fmt.Sprintf("%.0f s", elapsed.Seconds())}
	if root != nil {
		lines = append(lines, treeLines(root)...)
	}
	if len(lines) > height-1 {
		lines = lines[:height-1]
	}
	var frame strings.Builder
	if s.lines > 0 {
		fmt.Fprintf(&frame, "\x1b[%dA", s.lines)
	}
	for _, line := range lines {
		frame.WriteString(cut(line, width-1) + "\x1b[K\n")
	}
	frame.WriteString("\x1b[J")
	s.lines = len(lines)
	fmt.Fprint(s.out, frame.String())
}

func (s *liveScreen) Close() { s.lines = 0 }

func cut(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= width || width < 2 {
		return line
	}
	return string(runes[:width-1]) + "…"
}

// treeLines draws the cluster with the branches that `tree` has.
func treeLines(root *workload.Object) []string {
	var lines []string
	var draw func(o *workload.Object, first, rest string)
	draw = func(o *workload.Object, first, rest string) {
		mark := "·"
		if o.Ready {
			mark = "✔"
		}
		lines = append(lines, fmt.Sprintf("%s%s %s %s: %s", first, mark, o.Kind, o.Name, o.Status))
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
			key := o.Kind + " " + o.Name
			status := o.Status
			if o.Ready {
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
