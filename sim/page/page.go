package page

import (
	"embed"
	"html/template"
	"io"
	"net/url"
	"time"
)

// Root is the path that all links begin with.
const Root = "/_sim/page"

//go:embed page.html style.css
var files embed.FS

var templates = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"clock": func(t time.Time) string { return t.UTC().Format("15:04:05.000") },
	"query": url.QueryEscape,
}).ParseFS(files, "page.html"))

// Style returns the style sheet.
func Style() []byte {
	raw, err := files.ReadFile("style.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return raw
}

// Page is one page. It shows the one field below Message that is set.
type Page struct {
	// Section is the entry of the navigation that the page is: resources, requests, timeline or faults.
	Section string
	// Clock is the simulator's time, and Scale how much faster it is than Azure.
	Clock time.Time
	Scale float64
	// Refresh is after how many seconds the browser asks again; 0 is never.
	Refresh int
	// Message is the error in the form that was sent, or "".
	Message string

	Groups   *Groups
	Resource *Body
	Requests *Requests
	Timeline *Timeline
	Faults   *Faults
}

// Groups are the resource groups, and the resources of one of them.
type Groups struct {
	All []Group
	// In is the ID of the one whose resources are shown, "" for none.
	In        string
	Resources []Resource
}

// Group is a resource group.
type Group struct {
	ID, Name, Location, State, Owner string
	Resources                        int
}

// Resource is one line.
type Resource struct{ ID, Type, Name, Location, State, Owner string }

// Body is one resource as Azure shows it.
type Body struct{ ID, JSON string }

// Requests are the latest ones, the newest first.
type Requests struct {
	All    int
	Latest []Request
}

// Request is one answered request.
type Request struct {
	Time       time.Time
	Method     string
	URL        string
	Status     int
	DurationMs int64
	Client     string
}

// Timeline is the drawing of the writes in one resource group.
type Timeline struct {
	Groups []Group
	In     string
	// Drawing is an SVG document, "" when nothing was written.
	Drawing template.HTML
	// Critical is the duration of the critical path; Writes is the number of writes drawn, of All.
	Critical    time.Duration
	Writes, All int
}

// Faults are the existing rules, and the choices for a new one.
type Faults struct {
	Rules []Rule
	Kinds []string
	Types []string
}

// Rule is a rule with how often it matched and acted.
type Rule struct {
	Kind, Method, Type, ID, Says string
	Seen, Done                   int
	Spent                        bool
}

// Section is an entry of the navigation, with its path below Root.
type Section struct{ Name, Path string }

// Sections returns the entries of the navigation.
func (Page) Sections() []Section {
	return []Section{{"resources", ""}, {"requests", "requests"}, {"timeline", "timeline"}, {"faults", "faults"}}
}

// HasFailed reports whether the request was refused or cut.
func (r Request) HasFailed() bool { return r.Status == 0 || r.Status >= 400 }

// Render writes the page.
func Render(out io.Writer, p Page) error { return templates.Execute(out, p) }
