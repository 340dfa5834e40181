package browser

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var screenshots = flag.String("screenshots", "", "a folder for screenshots of some pages, in light and dark colours and on a narrow screen")

// session is a browser with the site, and what went wrong in it.
type session struct {
	*testing.T

	tab    context.Context
	url    string
	folder string

	faults *faults
}

// faults are messages of the console and requests to other hosts.
type faults struct {
	mutex sync.Mutex
	list  []string
}

// TestSite uses the site in a browser. After each part the console has to be empty, and no request may have left the site.
func TestSite(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "site")
	if out, err := exec.Command("go", "run", "..", "-root", "../../..", "-out", folder).CombinedOutput(); err != nil {
		t.Fatalf("build the site: %v\n%s", err, out)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.Flag("disable-dev-shm-usage", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox does not work for root.
	}
	if program := os.Getenv("CHROMIUM"); program != "" {
		options = append(options, chromedp.ExecPath(program))
	}
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	tab, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	s := &session{T: t, tab: tab, url: server.URL, folder: folder, faults: &faults{}}
	if err := chromedp.Listen(tab, s.listen); err != nil {
		t.Fatalf("start Chromium, which has to be in PATH or in CHROMIUM: %v", err)
	}
	s.do("listen to the page", call(runtime.Enable, cdp.Empty{}), call(log.Enable, cdp.Empty{}), call(network.Enable, network.EnableParams{}),
		chromedp.EmulateViewport(1400, 900))
	for _, part := range []struct {
		name string
		test func(*session)
	}{
		{"search", testSearch}, {"navigation", testNavigation}, {"colours", testColours}, {"narrow", testNarrow}, {"code", testCode},
		{"screenshots", testScreenshots},
	} {
		t.Run(part.name, func(t *testing.T) {
			limited, cancel := context.WithTimeout(tab, 3*time.Minute)
			defer cancel()
			part.test(&session{T: t, tab: limited, url: s.url, folder: folder, faults: s.faults})
			s.faults.mutex.Lock()
			defer s.faults.mutex.Unlock()
			for _, fault := range s.faults.list {
				t.Error(fault)
			}
			s.faults.list = nil
		})
	}
}

// call is an action that sends a command of the protocol.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	})
}

// listen collects errors of scripts, messages of the console and requests to other hosts.
func (s *session) listen(event any) {
	fault := ""
	switch event := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = fmt.Sprintf("a script failed: %s", event.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		fault = fmt.Sprintf("the console has a message: %s", event.Args[0].Value)
	case *log.EventEntryAdded:
		fault = fmt.Sprintf("the browser logs: %s %s", event.Entry.Text, event.Entry.URL)
	case *network.EventRequestWillBeSent:
		url := event.Request.URL
		if !strings.HasPrefix(url, s.url+"/") && !strings.HasPrefix(url, "file://"+s.folder) && !strings.HasPrefix(url, "data:") && url != "about:blank" {
			fault = "a page asks another host: " + url
		}
	}
	if fault != "" {
		s.faults.mutex.Lock()
		s.faults.list = append(s.faults.list, fault)
		s.faults.mutex.Unlock()
	}
}

func (s *session) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	s.Helper()
	if err := chromedp.Do(s.tab, actions...); err != nil {
		s.Fatalf("%s: %v", what, err)
	}
}

// eval returns the value of an expression in the page, as text.
func (s *session) eval(expression string) string {
	s.Helper()
	out, err := chromedp.Run(s.tab, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		s.Fatalf("%s: %v", expression, err)
	}
	return out
}

// wait waits until an expression in the page is true.
func (s *session) wait(expression string) {
	s.Helper()
	if _, err := chromedp.Run(s.tab, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(10*time.Second))); err != nil {
		s.Fatalf("wait until %s: %v", expression, err)
	}
}

func (s *session) open(path string) {
	s.Helper()
	s.do("open "+path, chromedp.Navigate(s.url+"/"+path), chromedp.WaitReady(chromedp.CSS("article h1")))
}

// follow waits until the page that an action opens is loaded.
func (s *session) follow(action chromedp.Action[chromedp.Void]) {
	s.Helper()
	if _, err := chromedp.Run(s.tab, chromedp.WaitEvent(page.LoadEventFired, func(page.EventLoadEventFired) bool { return true }, action)); err != nil {
		s.Fatal(err)
	}
}

// search types a query and returns the titles of the results.
func (s *session) search(query string) []string {
	s.Helper()
	s.eval(`(document.getElementById("search").value = "", document.getElementById("search").focus())`)
	s.do("search for "+query, chromedp.KeyEvent(query))
	s.wait(`!document.getElementById("results").hidden && document.querySelectorAll("#results a, #results .none").length > 0 && window.searchIndex !== undefined`)
	titles := s.eval(`[...document.querySelectorAll("#results b")].map((b) => b.textContent).join("\n")`)
	return strings.Split(titles, "\n")
}

// testSearch asks what people ask. The page that answers has to be among the first three results.
func testSearch(s *session) {
	for query, want := range map[string]string{
		"getting started":            "Getting started",
		"migrate from capz":          "Migration from CAPZ and rollback",
		"spot":                       "Spot VMs",
		"machine pool":               "Machine pools",
		"rollback":                   "Migration from CAPZ and rollback",
		"simulator faults":           "Inject faults",
		"workload identity":          "Workload identity",
		"--sync-period":              "Configure the manager",
		"AzureClusterIdentity":       "AzureClusterIdentity",
		"drift":                      "Drift detection and repair",
		"metrics":                    "Metrics",
		"AuthorizationFailed":        "Azure refuses the identity",
		"SkuNotAvailable":            "Error codes of Azure",
		"networkSpec subnets":        "AzureCluster",
		"cluster stays provisioning": "Cluster stays Provisioning",
		"machine has no node":        "Machine has no node",
		"deletion hangs":             "Deletion hangs",
		"service pending":            "Service stays pending",
		"429":                        "429: too many requests",
		"vulnerability":              "Security",
		"sizing":                     "Sizing",
		"CAPZ compatible":            "Frequently asked questions (FAQ)",
		"delete stuck":               "Delete clusters",
	} {
		s.open("book/metrics.html")
		found := s.search(query)
		if first := strings.Join(found[:min(3, len(found))], "\n"); !strings.Contains(first, want) {
			s.Errorf("%q: the first results are %q, want one of %q", query, first, want)
		}
	}
	s.search("xqzzy")
	if got := s.eval(`document.querySelector("#results").textContent`); !strings.Contains(got, "No page has") {
		s.Errorf("a search without results shows %q", got)
	}

	// The keyboard: / goes to the search, the arrows choose, Return opens.
	s.open("index.html")
	s.do("press /", chromedp.KeyEvent("/"))
	s.wait(`document.activeElement.id === "search"`)
	s.search("confidential vm")
	s.do("choose the second and the first result", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowUp))
	s.follow(chromedp.KeyEvent(kb.Enter))
	if got := s.eval(`location.pathname`); !strings.Contains(got, "confidential-vms") {
		s.Errorf("Return opened %s", got)
	}

	// The same from a file system, where browsers refuse to load data.
	s.do("open the file", chromedp.Navigate("file://"+s.folder+"/book/metrics.html"), chromedp.WaitReady(chromedp.CSS("article h1")))
	if found := s.search("getting started"); !strings.Contains(strings.Join(found, "\n"), "Getting started") {
		s.Errorf("the search from a file system found %q", found)
	}
}

// testNavigation opens every page from the navigation: each has a title, an open section and an entry for itself, and nothing is cut at its
// side.
func testNavigation(s *session) {
	s.open("index.html")
	links := strings.Split(s.eval(`[...document.querySelectorAll("#navigation a")].map((a) => a.getAttribute("href")).join("\n")`), "\n")
	if len(links) < 100 {
		s.Fatalf("the navigation has only %d pages", len(links))
	}
	for _, link := range links {
		s.open(link)
		if got := s.eval(`document.querySelectorAll("#navigation details[open] a[aria-current]").length`); got != "1" {
			s.Errorf("%s: %s entries of the navigation are the page itself, want 1", link, got)
		}
		if got := s.eval(`document.documentElement.scrollWidth > document.documentElement.clientWidth`); got == "true" {
			s.Errorf("%s is wider than the window", link)
		}
	}
	s.open(links[0])
	s.follow(chromedp.Click(chromedp.CSS(`a[rel="next"]`)))
	if got := s.eval(`location.pathname`); got != "/"+links[1] {
		s.Errorf("the page after %s is %s, want %s", links[0], got, links[1])
	}
	s.Logf("%d pages", len(links))
}

// testColours switches between light and dark: the switch wins over the system, and lasts on the next page.
func testColours(s *session) {
	const background = `getComputedStyle(document.body).backgroundColor`
	prefer := func(scheme string) chromedp.Action[chromedp.Void] {
		return call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
	}
	s.do("prefer light", prefer("light"))
	s.open("index.html")
	light := s.eval(background)
	s.do("prefer dark", prefer("dark"))
	dark := s.eval(background)
	if light == dark {
		s.Fatalf("the page is %s in both modes", light)
	}
	s.do("press the switch", chromedp.Click(chromedp.CSS("#theme")))
	if got := s.eval(background); got != light {
		s.Errorf("after the switch the page is %s, want %s", got, light)
	}
	s.open("book/metrics.html")
	if got := s.eval(background); got != light {
		s.Errorf("the next page is %s, want %s", got, light)
	}
}

// testNarrow uses a screen of a telephone: the navigation opens and closes, and no page is wider than the screen.
func testNarrow(s *session) {
	s.do("make the screen narrow", chromedp.EmulateViewport(380, 780))
	for _, path := range []string{"index.html", "architecture.html", "book/getting-started.html", "book/metrics.html", "book/conditions.html", "book/aks/features.html"} {
		s.open(path)
		if got := s.eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); got != "0" {
			s.Errorf("%s is %s pixels wider than the screen", path, got)
		}
	}
	const visible = `getComputedStyle(document.getElementById("navigation")).display`
	if got := s.eval(visible); got != "none" {
		s.Errorf("the navigation is %s before the button is pressed", got)
	}
	s.do("press the button", chromedp.Click(chromedp.CSS("#menu")))
	if got := s.eval(visible); got != "block" {
		s.Errorf("the navigation is %s after the button was pressed", got)
	}
}

// testCode copies a block of code, and finds colours in it.
func testCode(s *session) {
	s.open("book/getting-started.html")
	if got := s.eval(`document.querySelectorAll(".code").length === document.querySelectorAll(".code .copy").length`); got != "true" {
		s.Error("blocks of code have no button to copy them")
	}
	s.eval(`Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { window.copied = text; }}})`)
	s.eval(`document.querySelector(".copy").click()`)
	s.wait(`document.querySelector(".copy").textContent === "Copied"`)
	if got, want := s.eval(`window.copied`), s.eval(`document.querySelector(".code pre").textContent`); got != want || got == "" {
		s.Errorf("copied %q, want %q", got, want)
	}
	if got := s.eval(`document.querySelectorAll(".chroma .nt, .chroma .nv, .chroma .s2").length > 0`); got != "true" {
		s.Error("no word of the code has a colour")
	}
}

// testScreenshots takes pictures for people, where -screenshots names a folder.
func testScreenshots(s *session) {
	for name, path := range map[string]string{
		"home": "index.html", "architecture": "architecture.html", "start": "book/getting-started.html", "table": "book/conditions.html",
		"pool": "book/selfmanaged/machine-pools.html", "reference": "book/reference/azuremachine.html", "trouble": "book/troubleshooting.html",
	} {
		for mode, width := range map[string]int64{"light": 1400, "dark": 1400, "narrow": 380} {
			s.do("set the size", chromedp.EmulateViewport(width, 900))
			s.open(path)
			if name == "trouble" {
				s.search("429")
			}
			s.eval(`document.documentElement.dataset.theme = "` + strings.Replace(mode, "narrow", "light", 1) + `"`)
			picture, err := chromedp.Run(s.tab, chromedp.CaptureScreenshot())
			if err != nil {
				s.Fatal(err)
			}
			if len(picture) < 10_000 {
				s.Errorf("the picture of %s has only %d bytes", path, len(picture))
			}
			if *screenshots != "" {
				if err := os.WriteFile(filepath.Join(*screenshots, name+"-"+mode+".png"), picture, 0o600); err != nil {
					s.Fatal(err)
				}
			}
		}
	}
}
