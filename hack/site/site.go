package main

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2/lexers"
)

//go:embed theme
var theme embed.FS

var templates = template.Must(template.New("page.html").Funcs(template.FuncMap{"relative": relative, "breakable": breakable}).ParseFS(theme, "theme/*.html"))

// Site is the documentation, with the content of each of its files.
type Site struct {
	Navigation *Navigation
	Pages      []*Page
	Sections   []SearchEntry
	Version    string
	// Sources counts the files of the repository that pages link to.
	Sources int
	Files   map[string][]byte

	root    fs.FS
	byFile  map[string]*Page
	sources map[string]bool
}

// SearchEntry is a section of a page, as the search in the browser knows it. The names are short because each page loads them.
type SearchEntry struct {
	Path    string  `json:"p"`
	Title   string  `json:"t"`
	Heading string  `json:"h,omitempty"`
	Text    string  `json:"x"`
	Weight  float64 `json:"w,omitempty"`
}

// view is the input of the templates.
type view struct {
	*Site

	Path, Title string
	Page        *Page
	Body        template.HTML
	Previous    *Page
	Next        *Page
}

// Build makes the site from a repository. It fails if a link of a page leads nowhere.
func Build(root fs.FS, version string) (*Site, error) {
	navigation, pages, err := readNavigation(root)
	if err != nil {
		return nil, err
	}
	site := &Site{
		Navigation: navigation, Pages: pages, Version: version, Files: map[string][]byte{},
		root: root, byFile: map[string]*Page{}, sources: map[string]bool{},
	}
	for _, page := range pages {
		site.byFile[page.File] = page
	}
	for _, page := range pages {
		if err := site.render(page); err != nil {
			return nil, err
		}
		site.indexPage(page)
	}
	if err := site.addSearch(); err != nil {
		return nil, err
	}
	if err := site.addTheme(); err != nil {
		return nil, err
	}
	for _, page := range pages {
		v := view{Path: page.Path, Title: page.Title, Page: page, Body: page.Body}
		v.Previous, v.Next = neighbours(pages, page)
		if err := site.execute("page.html", v); err != nil {
			return nil, err
		}
	}
	return site, errorsOf(site.execute("home.html", view{Path: "index.html"}), site.execute("404.html", view{Path: "404.html", Title: "Page not found"}),
		site.addSources())
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// execute renders a template to the path of its view.
func (s *Site) execute(name string, v view) error {
	v.Site = s
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, v); err != nil {
		return fmt.Errorf("%s: %w", v.Path, err)
	}
	if s.Files[v.Path] != nil {
		return fmt.Errorf("two pages have the path %s. Rename one of the files", v.Path)
	}
	s.Files[v.Path] = out.Bytes()
	return nil
}

func (s *Site) indexPage(page *Page) {
	if page.File == listFile {
		return
	}
	for _, heading := range page.Headings {
		entry := SearchEntry{Path: page.Path, Title: page.Title, Text: heading.Content, Weight: page.Section.Weight}
		if heading.Level > 1 {
			entry.Path, entry.Heading = page.Path+"#"+heading.ID, heading.Text
		}
		s.Sections = append(s.Sections, entry)
	}
}

// addSearch writes the index twice: as JSON for other programs, and as a script, which a browser also loads from a file system.
func (s *Site) addSearch() error {
	index, err := json.Marshal(s.Sections)
	if err != nil {
		return err
	}
	s.Files["search.json"] = index
	s.Files["search.js"] = slices.Concat([]byte("window.searchIndex = "), index, []byte(";\n"))
	return nil
}

func (s *Site) addTheme() error {
	for _, name := range []string{"style.css", "site.js", "icon.svg"} {
		raw, err := fs.ReadFile(theme, "theme/"+name)
		if err != nil {
			return err
		}
		s.Files[name] = raw
	}
	return nil
}

// addSources adds a page for each file or folder of the repository that a page links to.
func (s *Site) addSources() error {
	s.Sources = len(s.sources)
	for _, file := range slices.Sorted(maps.Keys(s.sources)) {
		info, err := fs.Stat(s.root, file)
		if err != nil {
			return err
		}
		var body bytes.Buffer
		out := bufio.NewWriter(&body)
		if info.IsDir() {
			entries, err := fs.ReadDir(s.root, file)
			if err != nil {
				return err
			}
			out.WriteString("<ul>\n")
			for _, entry := range entries {
				fmt.Fprintf(out, "<li><code>%s</code></li>\n", template.HTMLEscapeString(entry.Name()))
			}
			out.WriteString("</ul>\n")
		} else {
			raw, err := fs.ReadFile(s.root, file)
			if err != nil {
				return err
			}
			language := ""
			if lexer := lexers.Match(path.Base(file)); lexer != nil {
				language = lexer.Config().Name
			}
			if err := highlight(out, language, string(raw)); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		v := view{Path: "source/" + file + ".html", Title: file, Body: template.HTML(body.String())} // All text of it is escaped above.
		if err := s.execute("source.html", v); err != nil {
			return err
		}
	}
	return nil
}

// Write replaces a folder by the site. It refuses to replace a folder that is not a site, and the folder of the process.
func (s *Site) Write(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if _, err := os.Stat(filepath.Join(folder, "search.json")); err != nil && len(entries) > 0 {
		return fmt.Errorf("%s has files, but no site. Choose an empty folder", folder)
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { // A web server has to read it.
			return err
		}
		if err := os.WriteFile(file, s.Files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Current reports whether a section has the page, for the navigation.
func (v view) Current(section *Section) bool { return v.Page != nil && v.Page.Section == section }

// Root returns the link to the first page's folder.
func (v view) Root() string { return strings.Repeat("../", strings.Count(v.Path, "/")) }

// Picture returns a picture of docs/pictures, for the first page.
func (v view) Picture(name string) (template.HTML, error) {
	raw, err := fs.ReadFile(v.root, "docs/pictures/"+name)
	return template.HTML(colorScheme.ReplaceAll(raw, nil)), err // The pictures are files of this repository.
}

// hump is where a name in camel case may go on in the next line.
var hump = regexp.MustCompile(`([a-z.])([A-Z])`)

// breakable returns a title whose long names may break between their words.
func breakable(title string) template.HTML {
	return template.HTML(hump.ReplaceAllString(template.HTMLEscapeString(title), "$1<wbr>$2")) // The title is escaped.
}
