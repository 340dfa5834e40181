package main

import (
	"bytes"
	"fmt"
	"html"
	"slices"
)

// picture is a drawing of boxes and arrows.
type picture struct {
	title         string
	width, height int
	boxes         []box
	arrows        []arrow
}

// box is a rectangle with lines of text. A frame is a box with a title at its top, behind other boxes.
type box struct {
	name       string
	x, y, w, h int
	style      string // "" for a plain box, "frame", "azure", "strong"
	lines      []string
}

// arrow leads from a box to another. It leaves and enters at the sides that face each other.
type arrow struct {
	from, to, label string
	dashed          bool
}

const (
	// titleWidth and characterWidth are those of a character in the first and in the other lines of a box, generously, so that texts fit
	// with any font.
	titleWidth, characterWidth = 8, 7
	lineHeight                 = 17
	// margin is how much two boxes share at least where a straight line joins them, on each side of the line.
	margin = 10
)

// style has each colour twice: first for programs that do not know light-dark().
const style = `<style>
.b{fill:#f3f6fa;fill:light-dark(#f3f6fa,#1d2632);stroke:#8a9bb0;stroke:light-dark(#8a9bb0,#52637a)}
.frame{fill:none;stroke:#8a9bb0;stroke:light-dark(#b4c0ce,#45536a);stroke-dasharray:5 4}
.azure{fill:#e3effb;fill:light-dark(#e3effb,#16304f);stroke:#2b7fd6;stroke:light-dark(#2b7fd6,#4f9bea)}
.strong{fill:#e5f4ea;fill:light-dark(#e5f4ea,#173524);stroke:#2f8f52;stroke:light-dark(#2f8f52,#55b67a)}
.back{fill:#fff;fill:light-dark(#fff,#12161c)}
text{font:13px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#1b232d;fill:light-dark(#1b232d,#dbe2ea)}
.t{font-weight:650}.s{font-size:12px;fill:#586575;fill:light-dark(#4d5a69,#a3b0bf)}
.a{fill:none;stroke:#586575;stroke:light-dark(#586575,#96a3b3);stroke-width:1.4}.d{stroke-dasharray:4 4}
.h{fill:#586575;fill:light-dark(#586575,#96a3b3)}
</style>
`

// draw returns the picture as SVG.
func (p picture) draw() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%[1]d\" height=\"%[2]d\" style=\"color-scheme: light dark\">\n",
		p.width, p.height)
	fmt.Fprintf(&out, "<title>%s</title>\n%s<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n", html.EscapeString(p.title), style, p.width, p.height)
	for _, b := range p.boxes {
		class := "b " + b.style
		fmt.Fprintf(&out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", class, b.x, b.y, b.w, b.h)
		top := b.y + (b.h-len(b.lines)*lineHeight)/2 + 13
		if b.style == "frame" {
			top = b.y + 20
		}
		for i, line := range b.lines {
			class, x, anchor := "s", b.x+b.w/2, "middle"
			if i == 0 {
				class = "t"
			}
			if b.style == "frame" {
				x, anchor = b.x+14, "start"
			}
			fmt.Fprintf(&out, "<text class=\"%s\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", class, x, top+i*lineHeight, anchor, html.EscapeString(line))
		}
	}
	for _, a := range p.arrows {
		p.drawArrow(&out, a)
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func (p picture) find(name string) box {
	i := slices.IndexFunc(p.boxes, func(b box) bool { return b.name == name })
	if i < 0 {
		panic("the picture " + p.title + " has no box " + name) // the tables are constant, and a test draws all of them
	}
	return p.boxes[i]
}

// drawArrow draws a line with at most two corners, its head, and its label in the middle.
func (p picture) drawArrow(out *bytes.Buffer, a arrow) {
	from, to := p.find(a.from), p.find(a.to)
	class := "a"
	if a.dashed {
		class += " d"
	}
	var path, head string
	var labelX, labelY int
	horizontal := from.x+from.w < to.x || to.x+to.w < from.x
	if horizontal {
		x1, x2, back := from.x+from.w, to.x, 8
		if to.x < from.x {
			x1, x2, back = from.x, to.x+to.w, -8
		}
		y1, y2 := facing(from.y, from.h, to.y, to.h)
		middle := (x1 + x2) / 2
		path = fmt.Sprintf("M%d %dH%dV%dH%d", x1, y1, middle, y2, x2-back)
		head = fmt.Sprintf("M%d %dL%d %dL%d %dZ", x2, y2, x2-back, y2-4, x2-back, y2+4)
		labelX, labelY = middle, min(y1, y2)-6
	} else {
		y1, y2, back := from.y+from.h, to.y, 8
		if to.y < from.y {
			y1, y2, back = from.y, to.y+to.h, -8
		}
		x1, x2 := facing(from.x, from.w, to.x, to.w)
		middle := (y1 + y2) / 2
		path = fmt.Sprintf("M%d %dV%dH%dV%d", x1, y1, middle, x2, y2-back)
		head = fmt.Sprintf("M%d %dL%d %dL%d %dZ", x2, y2, x2-4, y2-back, x2+4, y2-back)
		labelX, labelY = (x1+x2)/2, middle-5
		if x1 == x2 {
			labelX, labelY = x1+len(a.label)*characterWidth/2+8, middle+4
		}
	}
	fmt.Fprintf(out, "<path class=\"%s\" d=\"%s\"/><path class=\"h\" d=\"%s\"/>\n", class, path, head)
	if a.label != "" {
		fmt.Fprintf(out, "<text class=\"s\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", labelX, labelY, html.EscapeString(a.label))
	}
}

// facing returns where a line between two boxes leaves and enters: straight in the middle of what both share, else in the middle of each.
func facing(at1, size1, at2, size2 int) (leave, enter int) {
	from, to := max(at1, at2), min(at1+size1, at2+size2)
	if to-from >= 2*margin {
		return (from + to) / 2, (from + to) / 2
	}
	return at1 + size1/2, at2 + size2/2
}
