package schedule

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"time"
)

// Sizes of the drawing, in its own units.
const (
	labels, bars, row, head = 320, 700, 18, 28
	width                   = labels + bars + 60
)

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
}

// picture is one SVG document, with its own colors, for light and dark pages alike.
var picture = template.Must(template.New("svg").Parse(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{.Width}} {{.Height}}" role="img" font-family="system-ui, sans-serif" font-size="11">
<title>{{.Title}}</title>
<style>.axis{stroke:#8884}.text{fill:#888}.name{fill:currentColor}.write{fill:#6b8fc9}.critical{fill:#d9822b}.failed{fill:#c23030}.running{fill:#6b8fc9;opacity:.45}</style>
{{range .Ticks}}<line class="axis" x1="{{.X}}" y1="{{$.Head}}" x2="{{.X}}" y2="{{.End}}"/><text class="text" x="{{.X}}" y="16" text-anchor="middle">{{.Text}}</text>
{{end}}{{range .Bars}}<g><title>{{.Full}}</title><text class="name" x="{{$.Labels}}" y="{{.TextY}}" text-anchor="end" dx="-8">{{.Text}}</text><rect class="{{.Class}}" x="{{.X}}" y="{{.Y}}" width="{{.Width}}" height="12" rx="2"/><text class="text" x="{{.EndX}}" y="{{.TextY}}" dx="4">{{.Took}}</text></g>
{{end}}</svg>
`))

// DrawSVG draws the writes below each other, each from its start to its end, those of the critical path in a color of
// their own. The axis starts at begin. Running operations are drawn until now.
func DrawSVG(out io.Writer, writes, critical []*Write, begin, now time.Time) error {
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
			Text: clipText(w.Method + " " + ShortenID(w.ID)), Class: cssClass(w, critical)}
		b.Width = max(2, b.EndX-b.X)
		b.Took = strconv.FormatFloat(until(w).Sub(w.Start).Seconds(), 'f', 1, 64) + " s"
		b.Full = fmt.Sprintf("%s %s: %s", w.Method, w.ID, w.Status)
		if w.After != nil {
			b.Full += ", after " + ShortenID(w.After.ID)
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

// clipText shortens a text that does not fit the space on the left. It keeps the end, which distinguishes IDs better than
// their middle.
func clipText(text string) string {
	const most = 52
	if len(text) <= most {
		return text
	}
	return text[:24] + "…" + text[len(text)-most+25:]
}
