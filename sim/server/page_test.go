package server_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// browser is a reader of the pages: it keeps cookies and follows redirects.
type browser struct {
	t    *testing.T
	url  string
	http http.Client
}

func (a *azure) newBrowser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		a.t.Fatal(err)
	}
	return &browser{t: a.t, url: a.url, http: http.Client{Transport: a.http.Transport, Jar: jar}}
}

// opened is a page as a browser has it: where it came from, its status, its words, and the elements by name.
type opened struct {
	at       *url.URL
	status   int
	text     string
	elements map[string]int
}

func (b *browser) openPage(path string, form url.Values, header ...string) opened {
	b.t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	request, err := http.NewRequest(method, b.url+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer, err := b.http.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	root, err := html.Parse(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	page := opened{at: answer.Request.URL, status: answer.StatusCode, elements: map[string]int{}}
	for node := range root.Descendants() {
		switch node.Type {
		case html.ElementNode:
			page.elements[node.Data]++
		case html.TextNode:
			page.text += " " + strings.Join(strings.Fields(node.Data), " ")
		}
	}
	page.text = strings.Join(strings.Fields(page.text), " ")
	return page
}

func (p opened) wantWords(t *testing.T, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(p.text, word) {
			t.Errorf("%s lacks %q: %s", p.at, word, p.text)
		}
	}
}

func TestPages(t *testing.T) {
	a := newAzure(t)
	b := a.newBrowser()
	b.openPage("/_sim/page", nil).wantWords(t, "resources requests timeline faults", "There is none yet.")
	b.openPage("/_sim/page/timeline", nil).wantWords(t, "Nothing has been written there.")
	a.mustSucceed("PUT", groupA,
		obj{"location": "westus3",
			"tags": obj{"sigs.k8s.io_cluster-api-provider-azure_cluster_mine": "owned", "note": "<script>alert(1)</script>"}})
	a.mustSucceed("PUT", net+"/routeTables/table", obj{"location": "westus3"})
	a.mustSucceed("PUT", net+"/publicIPAddresses/address",
		obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{"publicIPAllocationMethod": "Static"}})
	a.sendRequest("DELETE", net+"/routeTables/table", nil)
	a.sendRequest("PUT", net+"/routeTables/refused", obj{"location": "nowhere"})

	b.openPage("/_sim/page/?group="+url.QueryEscape(strings.ToUpper(groupA)), nil).wantWords(t,
		"rg westus3 Succeeded mine 2", "Resources of "+groupA, "Microsoft.Network/publicIPAddresses address westus3 Succeeded",
		"table westus3 Deleting")
	group := b.openPage("/_sim/page/resource?id="+url.QueryEscape(groupA), nil)
	group.wantWords(t, `"location": "westus3"`)
	if group.elements["script"] > 0 {
		t.Error("text of a client became markup of the page")
	}
	if missing := b.openPage("/_sim/page/resource?id=/subscriptions/x", nil); missing.status != 404 {
		t.Errorf("a missing resource: %d", missing.status)
	}
	b.openPage("/_sim/page/requests", nil).wantWords(t, "DELETE "+net+"/routeTables/table", "202")
	timeline := b.openPage("/_sim/page/timeline", nil)
	timeline.wantWords(t, "4 writes. The critical path", "PUT resourceGroups/rg", "PUT publicipaddresses/address", "DELETE routetables/table")
	if timeline.elements["svg"] != 1 || timeline.elements["rect"] != 4 {
		t.Errorf("%d drawings with %d bars, want one with four", timeline.elements["svg"], timeline.elements["rect"])
	}
	if other := b.openPage("/_sim/page/other", nil); other.status != 404 {
		t.Errorf("a page that is none: %d", other.status)
	}
}

// TestFaultsOfThePage switches a fault on and off as a browser does.
func TestFaultsOfThePage(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	b := a.newBrowser()
	on := url.Values{"kind": {"status"}, "method": {"GET"}, "id": {groupA}, "count": {"-1"}, "status": {"503"}, "code": {"ServerBusy"}}
	b.openPage("/_sim/page/faults", on).wantWords(t, "status GET "+groupA+" 503 ServerBusy 0 0")
	if r := a.sendRequest("GET", groupA, nil); r.status != 503 || r.errorCode() != "ServerBusy" {
		t.Errorf("with the fault: %d %s", r.status, r.errorCode())
	}
	b.openPage("/_sim/page/faults", nil).wantWords(t, "503 ServerBusy 1 1")
	b.openPage("/_sim/page/faults", url.Values{"kind": {"slowBody"}, "seconds": {"1.5"}}).wantWords(t, "slowBody")
	b.openPage("/_sim/page/faults/clear", url.Values{}).wantWords(t, "Nothing goes wrong.")
	if r := a.sendRequest("GET", groupA, nil); r.status != 200 {
		t.Errorf("without it: %d", r.status)
	}
	for name, tc := range map[string]struct {
		form url.Values
		want string
	}{
		"no kind":    {url.Values{}, "kind \"\" is unknown"},
		"no status":  {url.Values{"kind": {"status"}}, "no effect without status"},
		"no number":  {url.Values{"kind": {"throttle"}, "retryAfter": {"soon"}}, `retryAfter must be a whole number, not "soon"`},
		"no factor":  {url.Values{"kind": {"slow"}, "factor": {"x"}}, `factor must be a number, not "x"`},
		"no seconds": {url.Values{"kind": {"slowBody"}}, "econds"},
		"no message": {url.Values{"kind": {"fail"}}, "no effect without code"},
	} {
		page := b.openPage("/_sim/page/faults", tc.form)
		if page.wantWords(t, tc.want); page.status != 400 {
			t.Errorf("%s: %d, want 400", name, page.status)
		}
	}
	b.openPage("/_sim/page/faults", nil).wantWords(t, "Nothing goes wrong.")
	if cross := b.openPage("/_sim/page/faults", on, "Sec-Fetch-Site", "cross-site"); cross.status != 403 {
		t.Errorf("a form on another site: %d, want 403", cross.status)
	}
	b.openPage("/_sim/page/faults", nil).wantWords(t, "Nothing goes wrong.")
}

// TestPagesNeedTheControlToken requests pages without the token, with a wrong one, and with the right one, which is
// sent once.
func TestPagesNeedTheControlToken(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.ControlToken = "to ken" })
	b := a.newBrowser()
	for _, path := range []string{"/_sim/page", "/_sim/page/?token=wrong", "/_sim/page/requests", "/_sim/page/style.css"} {
		if page := b.openPage(path, nil); page.status != 401 || strings.Contains(page.text, "to ken") {
			t.Errorf("%s: %d %s, want 401", path, page.status, page.text)
		}
	}
	if page := b.openPage("/_sim/page/requests?token=to+ken", nil); page.status != 200 || page.at.RawQuery != "" {
		t.Errorf("with the token: %d at %s, want 200 at an address without it", page.status, page.at)
	}
	if page := b.openPage("/_sim/page/faults", url.Values{"kind": {"throttle"}}); page.status != 200 {
		t.Errorf("with the cookie: %d", page.status)
	}
	if page := a.newBrowser().openPage("/_sim/page/faults", url.Values{"kind": {"throttle"}}); page.status != 401 {
		t.Errorf("another browser: %d, want 401", page.status)
	}
}
