package main

import (
	"bytes"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// TestSite builds the site of this repository and follows each link of each page: to a file of the site, and to a heading of that file.
// Pages load nothing from other hosts.
func TestSite(t *testing.T) {
	site, err := Build(os.DirFS("../.."), "v0.0.0")
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]map[string]bool{}
	pages := map[string]*html.Node{}
	for name, content := range site.Files {
		if path.Ext(name) != ".html" {
			continue
		}
		page, err := html.Parse(bytes.NewReader(content))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		pages[name], anchors[name] = page, map[string]bool{}
		for node := range page.Descendants() {
			if id := attribute(node, "id"); id != "" {
				if anchors[name][id] {
					t.Errorf("%s has the ID %s twice", name, id)
				}
				anchors[name][id] = true
			}
		}
	}
	followed := 0
	for name, page := range pages {
		for node := range page.Descendants() {
			link, loaded := attribute(node, "href"), attribute(node, "src")
			if node.Data == "link" {
				link, loaded = "", link
			}
			if strings.Contains(loaded, "://") || strings.HasPrefix(loaded, "//") {
				t.Errorf("%s loads %s from another host", name, loaded)
			}
			for _, target := range []string{link, loaded} {
				if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
					continue
				}
				followed++
				file, anchor, _ := strings.Cut(target, "#")
				to := name
				if file != "" {
					to = path.Join(path.Dir(name), file)
				}
				if site.Files[to] == nil {
					t.Errorf("%s: %s leads to no file of the site", name, target)
				} else if anchor != "" && !anchors[to][anchor] {
					t.Errorf("%s: %s has no element %s", name, to, anchor)
				}
			}
		}
	}
	again, err := Build(os.DirFS("../.."), "v0.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(site.Files, again.Files); difference != "" {
		t.Errorf("the second build differs from the first: %s", difference)
	}
	t.Logf("%d pages, %d HTML files, %d links, 0 of them dead", len(site.Pages), len(pages), followed)
	if followed < len(pages) {
		t.Errorf("only %d links were followed", followed)
	}
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// TestBuild builds a site with one fault of each kind; it expects a message that names the file and the remedy.
func TestBuild(t *testing.T) {
	const navigation = "sections:\n- {title: Start, about: A., groups: [{pages: [docs/a.md, docs/b/README.md]}]}\n"
	for name, test := range map[string]struct {
		reason string
		files  map[string]string
		want   string
	}{
		"in order":     {"links, headings, files and pictures exist", map[string]string{"docs/a.md": "# A\n\n## The `x.y` part\n\n[b](b/README.md#b) [file](../go.mod) [part](#the-xy-part)\n\n![p](p.svg)\n"}, ""},
		"folder":       {"a folder with a page is that page", map[string]string{"docs/a.md": "# A\n\n[b](b)\n"}, ""},
		"dead link":    {"the file does not exist", map[string]string{"docs/a.md": "# A\n\n[b](c.md)\n"}, "docs/a.md links to c.md, which does not exist"},
		"dead heading": {"the page exists, the heading does not", map[string]string{"docs/a.md": "# A\n\n[b](b/README.md#c)\n"}, "docs/a.md links to b/README.md#c, but docs/b/README.md has no such heading"},
		"file heading": {"files of the repository have no headings", map[string]string{"docs/a.md": "# A\n\n[b](../go.mod#c)\n"}, "which is no page and has no headings"},
		"dead picture": {"the picture does not exist", map[string]string{"docs/a.md": "# A\n\n![b](q.svg)\n"}, "docs/a.md shows the picture q.svg, which is no SVG file"},
		"not listed":   {"a page that the navigation lacks could not be found", map[string]string{"docs/c.md": "# C\n"}, "docs/navigation.yaml does not list docs/c.md"},
		"listed twice": {"a page has one place", map[string]string{"docs/navigation.yaml": navigation + "- {title: B, about: B., groups: [{pages: [docs/a.md]}]}\n"}, "lists docs/a.md twice"},
		"does not exist": {"an entry of the navigation has a file", map[string]string{"docs/navigation.yaml": strings.Replace(navigation, "docs/a.md", "docs/a.md, docs/z.md", 1)},
			"docs/navigation.yaml: open docs/z.md"},
		"unknown field": {"misspelt keys are not ignored", map[string]string{"docs/navigation.yaml": strings.Replace(navigation, "about", "abuot", 1)}, "unknown field"},
		"no title":      {"the navigation needs titles", map[string]string{"docs/a.md": "A\n"}, "docs/a.md does not begin with a title"},
		"HTML":          {"HTML would be left out of the page", map[string]string{"docs/a.md": "# A\n\nuse <name> here\n"}, "docs/a.md has the HTML <name>"},
		"block of HTML": {"a block of HTML would be left out of the page",
			map[string]string{"docs/a.md": "# A\n\n<div>\nx\n</div>\n"}, "docs/a.md has a block of HTML"},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for file, content := range map[string]string{
				navigationFile: navigation, "docs/a.md": "# A\n", "docs/b/README.md": "# B\n", "go.mod": "module x\n", "docs/p.svg": "<svg/>", "docs/pictures/overview.svg": "<svg/>",
			} {
				root[file] = &fstest.MapFile{Data: []byte(content)}
			}
			for file, content := range test.files {
				root[file] = &fstest.MapFile{Data: []byte(content)}
			}
			_, err := Build(root, "")
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%s: %v", test.reason, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%s: got the error %v, want %q", test.reason, err, test.want)
			}
		})
	}
}

// TestRelative computes links between folders of the site.
func TestRelative(t *testing.T) {
	for name, test := range map[string]struct{ reason, from, to, want string }{
		"same folder":   {"only the name", "book/a.html", "book/b.html", "b.html"},
		"from the root": {"the path", "a.html", "book/b.html", "book/b.html"},
		"to the root":   {"up", "book/aks/a.html", "b.html", "../../b.html"},
		"sibling":       {"up to what both share", "book/aks/a.html", "book/self/b.html", "../self/b.html"},
		"deeper":        {"down from the own folder", "book/a.html", "book/aks/b.html", "aks/b.html"},
	} {
		if got := relative(test.from, test.to); got != test.want {
			t.Errorf("%s: %s: got %s, want %s", name, test.reason, got, test.want)
		}
	}
}

// TestWrite replaces a site, and refuses to replace a folder with other files.
func TestWrite(t *testing.T) {
	site := &Site{Files: map[string][]byte{"search.json": []byte("[]"), "book/a.html": []byte("a")}}
	folder := t.TempDir() + "/site"
	for range 2 {
		if err := site.Write(folder); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(folder + "/book/a.html"); err != nil || string(got) != "a" {
		t.Errorf("book/a.html is %q, %v", got, err)
	}
	other := t.TempDir()
	if err := os.WriteFile(other+"/kept", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := site.Write(other); err == nil {
		t.Error("a folder with other files was replaced")
	}
}
