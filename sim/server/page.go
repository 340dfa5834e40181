package server

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/page"
)

// How much one page shows.
const (
	shownRequests = 200
	drawnWrites   = 200
)

// pageCookie has the control token for browsers, which send no headers of their own.
const pageCookie = "sim-token"

// servePage serves the pages for people, below page.Root.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self' 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if !s.mayLook(w, r) {
		return
	}
	q, view := r.URL.Query(), page.Page{Clock: s.opts.Clock.Now(), Scale: s.opts.TimeScale}
	switch r.Method + " " + strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, page.Root), "/") {
	case "GET ":
		view.Section, view.Refresh, view.Groups = "resources", 5, s.pageGroups(q.Get("group"))
	case "GET /style.css":
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(page.Style())
		return
	case "GET /resource":
		view.Section = "resources"
		if view.Resource = s.pageResource(q.Get("id")); view.Resource == nil {
			view.Message = fmt.Sprintf("There is no resource %q.", q.Get("id"))
		}
	case "GET /requests":
		view.Section, view.Refresh, view.Requests = "requests", 2, s.pageRequests()
	case "GET /timeline":
		view.Section, view.Refresh, view.Timeline = "timeline", 5, s.pageTimeline(q.Get("group"))
	case "GET /faults":
		view.Section, view.Faults = "faults", s.pageFaults()
	case "POST /faults", "POST /faults/clear":
		if err := s.changeFaults(r); err != nil {
			view.Section, view.Message, view.Faults = "faults", err.Error(), s.pageFaults()
			break
		}
		http.Redirect(w, r, page.Root+"/faults", http.StatusSeeOther)
		return
	default:
		writeRefusal(w, 404, fmt.Sprintf("%s %s is no page", r.Method, r.URL.Path))
		return
	}
	var out bytes.Buffer
	if err := page.Render(&out, view); err != nil {
		writeRefusal(w, 500, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch {
	case view.Section == "resources" && view.Message != "":
		w.WriteHeader(404)
	case view.Message != "":
		w.WriteHeader(400)
	}
	_, _ = w.Write(out.Bytes())
}

// mayLook reports whether the browser has the control token. A browser that sends the token in the query gets it as a
// cookie, and is redirected to the same address without it, so that the token is not in the browser's history. The
// request has been answered when mayLook returns false.
func (s *Server) mayLook(w http.ResponseWriter, r *http.Request) bool {
	// Another site's page must not switch on faults with the browser's cookie.
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		writeRefusal(w, 403, err.Error())
		return false
	}
	token := s.opts.ControlToken
	if token == "" {
		return true
	}
	is := func(given string) bool { return subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 }
	q := r.URL.Query()
	if given := q.Get("token"); r.Method == http.MethodGet && is(given) {
		http.SetCookie(w, &http.Cookie{Name: pageCookie, Value: url.QueryEscape(given), Path: page.Root, HttpOnly: true, Secure: true,
			SameSite: http.SameSiteStrictMode})
		q.Del("token")
		here := url.URL{Path: r.URL.Path, RawQuery: q.Encode()}
		http.Redirect(w, r, here.String(), http.StatusSeeOther)
		return false
	}
	if cookie, err := r.Cookie(pageCookie); err == nil {
		if given, err := url.QueryUnescape(cookie.Value); err == nil && is(given) {
			return true
		}
	}
	if is(r.Header.Get("X-Sim-Token")) {
		return true
	}
	writeRefusal(w, 401, "the control token is missing or wrong: open "+page.Root+"/?token=TOKEN")
	return false
}

// changeFaults applies a form of the page on faults.
func (s *Server) changeFaults(r *http.Request) error {
	r.Body = http.MaxBytesReader(nil, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		return fmt.Errorf("the form: %w", err)
	}
	if strings.HasSuffix(strings.TrimSuffix(r.URL.Path, "/"), "/clear") {
		s.ClearFaults()
		return nil
	}
	f := r.PostForm
	rule := fault.Rule{Kind: fault.Kind(f.Get("kind")), Method: f.Get("method"), Type: f.Get("type"), ID: f.Get("id"), Code: f.Get("code"),
		Message: f.Get("message")}
	for field, into := range body.Sorted(map[string]*int{"count": &rule.Count, "status": &rule.Status, "retryAfter": &rule.RetryAfter}) {
		if text := f.Get(field); text != "" {
			number, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%s must be a whole number, not %q", field, text)
			}
			*into = number
		}
	}
	for field, into := range body.Sorted(map[string]*float64{"factor": &rule.Factor, "seconds": &rule.Seconds}) {
		if text := f.Get(field); text != "" {
			number, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("%s must be a number, not %q", field, text)
			}
			*into = number
		}
	}
	return s.AddFault(rule)
}
