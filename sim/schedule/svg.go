package schedule

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Sizes of the drawing, in its own units.
const (
	bars, row, head, margin = 700, 18, 28, 60
	// minLabels is the least width of the labels. Above it they are as wide as the longest of them, so that none is cut.
	minLabels = 160
	// letter is the width of a letter of the font, rounded up: a label that is a little short of its column is better than one that leaves it.
	letter = 6.6
)

// Gap is a time in which a write waited for something. From is its start; the start of the write is its end.
type Gap struct {
	From time.Time
	// Reason is what the write waited for.
	Reason string
}

// gapOf names the wait of a write after the write that it needs.
func gapOf(w *Write) Gap {
	if w.After == nil {
		return Gap{}
	}
	return Gap{w.After.End, "after " + ShortenID(w.After.ID)}
}

// drawing is the input of the template.
type drawing struct {
	Width, Height, Labels, Head int
	Title                       string
	Ticks                       []tick
	Bars                        []bar
}

type tick struct {
	X, End int
	Text   string
}

type bar struct {
	Y, TextY, X, Width, EndX int
	Class, Text, Full, Took  string
	// Gap is the wait before the bar; GapX is 0 if there is none that could be seen.
	Gap, GapText string
	GapX, GapY   int
}

// picture is one SVG document, with its own colors, for light and dark pages alike.
var picture = template.Must(template.New("svg").Parse(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{.Width}} {{.Height}}" role="img" font-family="system-ui, sans-serif" font-size="11">
<title>{{.Title}}</title>
<style>.axis{stroke:#8884}.text{fill:#888}.name{fill:currentColor}.write{fill:#6b8fc9}.critical{fill:#d9822b}.failed{fill:#c23030}.running{fill:#6b8fc9;opacity:.45}.gap{stroke:#8888;stroke-dasharray:3 3}.wait{fill:#888;font-size:9px}</style>
{{range .Ticks}}<line class="axis" x1="{{.X}}" y1="{{$.Head}}" x2="{{.X}}" y2="{{.End}}"/><text class="text" x="{{.X}}" y="16" text-anchor="middle">{{.Text}}</text>
{{end}}{{range .Bars}}<g><title>{{.Full}}</title><text class="name" x="{{$.Labels}}" y="{{.TextY}}" text-anchor="end" dx="-8">{{.Text}}</text>{{if .GapX}}<line class="gap" x1="{{.GapX}}" y1="{{.GapY}}" x2="{{.X}}" y2="{{.GapY}}"><title>{{.Gap}}</title></line>{{if .GapText}}<text class="wait" x="{{.GapX}}" y="{{.GapY}}" dx="2" dy="-2">{{.GapText}}</text>{{end}}{{end}}<rect class="{{.Class}}" x="{{.X}}" y="{{.Y}}" width="{{.Width}}" height="12" rx="2"/><text class="text" x="{{.EndX}}" y="{{.TextY}}" dx="4">{{.Took}}</text></g>
{{end}}</svg>
`))

// DrawSVG draws the writes below each other, each from its start to its end, those of the critical path in a color of
// their own. The axis starts at begin. Running operations are drawn until now. findGap returns why a write did not begin earlier; nil
// names the writes that others needed.
func DrawSVG(out io.Writer, writes, critical []*Write, begin, now time.Time, findGap func(*Write) Gap) error {
	if findGap == nil {
		findGap = gapOf
	}
	end := begin.Add(time.Second)
	until := func(w *Write) time.Time {
		if w.Running && now.After(w.End) {
			return now
		}
		return w.End
	}
	for _, w := range writes {
		if last := until(w); last.After(end) {
			end = last
		}
	}
	labels := minLabels
	for _, w := range writes {
		labels = max(labels, int(letter*float64(utf8.RuneCountInString(labelOf(w))))+16)
	}
	width := labels + bars + margin
	x := func(at time.Time) int {
		return labels + int(float64(bars)*at.Sub(begin).Seconds()/end.Sub(begin).Seconds())
	}
	height := head + row*len(writes) + 8
	d := drawing{Width: width, Height: height, Labels: labels, Head: head,
		Title: fmt.Sprintf("%d writes to Azure in %.1f s", len(writes), end.Sub(begin).Seconds())}
	for step, at := stepOf(end.Sub(begin)), time.Duration(0); at <= end.Sub(begin); at += step {
		d.Ticks = append(d.Ticks, tick{x(begin.Add(at)), height - 4, at.String()})
	}
	for i, w := range writes {
		b := bar{Y: head + row*i + 3, TextY: head + row*i + 13, X: x(w.Start), EndX: x(until(w)),
			Text: labelOf(w), Class: cssClass(w, critical)}
		b.Width = max(2, b.EndX-b.X)
		b.Took = strconv.FormatFloat(until(w).Sub(w.Start).Seconds(), 'f', 1, 64) + " s"
		b.Full = fmt.Sprintf("%s %s: %s", w.Method, w.ID, w.Status)
		if w.After != nil {
			b.Full += ", after " + ShortenID(w.After.ID)
		}
		if gap := findGap(w); gap.Reason != "" && x(gap.From) < b.X && !gap.From.Before(begin) {
			b.GapX, b.GapY = x(gap.From), b.Y+6
			b.Gap = fmt.Sprintf("%.1f s: %s", w.Start.Sub(gap.From).Seconds(), gap.Reason)
			b.GapText = fitText(b.Gap, b.X-b.GapX)
		}
		d.Bars = append(d.Bars, b)
	}
	return picture.Execute(out, d)
}

func cssClass(w *Write, critical []*Write) string {
	switch {
	case w.Running:
		return "running"
	case w.Status == "Failed" || w.Status == "Canceled":
		return "failed"
	case slices.Contains(critical, w):
		return "critical"
	}
	return "write"
}

// stepOf returns a round time of which at most ten fit.
func stepOf(whole time.Duration) time.Duration {
	for _, step := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second,
		5 * time.Second, 10 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour} {
		if whole <= 10*step {
			return step
		}
	}
	return (whole/10 + time.Hour).Truncate(time.Hour)
}

func labelOf(w *Write) string { return w.Method + " " + ShortenID(w.ID) }

// fitText returns a text if it fits a width, or its part before the colon, the seconds, or "".
func fitText(text string, width int) string {
	const small = 5.2
	for _, each := range []string{text, strings.SplitN(text, ":", 2)[0]} {
		if small*float64(utf8.RuneCountInString(each)) <= float64(width) {
			return each
		}
	}
	return ""
}
