package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// maxBody is Azure's: https://github.com/Azure/azure-resource-manager-rpc/pull/138
const maxBody = 4 << 20

var errLargeBody = errors.New("the request content size exceeds the maximum size of 4 MB")

// exchange is one request on its way through the simulator.
type exchange struct {
	s      *Server
	w      http.ResponseWriter
	r      *http.Request
	record RequestRecord
	// received is the body as the client sent it.
	received []byte
	call     *provider.Call // Tx is set only inside a transaction
	segs     []string
	lower    []string
	// pending is the operation that the answer is about, while it runs.
	pending *store.Operation
}

func (s *Server) serveExchange(w http.ResponseWriter, r *http.Request) {
	start := s.opts.Clock.Now()
	if strings.HasPrefix(r.URL.Path, "/_sim/") {
		s.serveControl(w, r)
		return
	}
	x := &exchange{s: s, w: w, r: r,
		record: RequestRecord{Time: start, Method: r.Method, URL: loggedURL(r.URL), UserAgent: r.UserAgent(), RequestID: s.newGUID()}}
	rec := &statusWriter{ResponseWriter: w, clock: s.opts.Clock}
	x.w = rec
	defer func() {
		if rec.status == 0 {
			rec.answered = s.opts.Clock.Now()
		}
		x.record.Status, x.record.RetryAfterMs = rec.status, retryAfterOf(rec.Header())
		x.record.Unread = r.Context().Err() != nil
		x.record.Answered, x.record.DurationMs = rec.answered, rec.answered.Sub(start).Milliseconds()
		s.log.addRecord(x.record, x.received)
	}()
	if s.serveManagedIdentity(rec, r) || s.serveMetadata(rec, r) || s.entra.serveTokens(rec, r) || s.entra.serveGraph(rec, r) ||
		s.serveConsole(rec, r) {
		return
	}
	x.serveARM()
	x.advanceOnPoll()
}

type statusWriter struct {
	http.ResponseWriter
	clock    store.Clock
	status   int
	answered time.Time
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.answered = status, w.clock.Now()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// cutConnection cuts the connection without an answer.
func (x *exchange) cutConnection() {
	panic(http.ErrAbortHandler)
}

func (x *exchange) serveARM() {
	s := x.s
	x.segs = splitSegments(x.r.URL.Path)
	for _, seg := range x.segs {
		x.lower = append(x.lower, strings.ToLower(seg))
	}
	x.call = &provider.Call{Env: s.env, Method: x.r.Method, Query: x.r.URL.Query(), Header: x.r.Header, RequestID: x.record.RequestID,
		BaseURL: "https://" + x.r.Host}
	if err := x.checkToken(); err != nil {
		x.writeError(err)
		return
	}
	if err := x.checkAPIVersion(); err != nil {
		x.writeError(err)
		return
	}
	if err := x.checkLimits(); err != nil {
		x.writeError(err)
		return
	}
	if err := x.readBody(); err != nil {
		x.writeError(err)
		return
	}
	x.identifyResource()
	if err := x.checkAuthorization(); err != nil {
		x.writeError(err)
		return
	}
	if err := x.checkRegistration(); err != nil {
		x.writeError(err)
		return
	}
	if err := x.limitOfProvider(); err != nil {
		x.writeError(err)
		return
	}
	typ, id := "", x.call.ID.String()
	if id == "" {
		// A list of all resources of a scope names none.
		id = x.r.URL.Path
	}
	if x.call.Type != nil {
		typ = x.call.Type.Name
	}
	rule, hit := s.faults.TakeMatching(x.r.Method, typ, id, func(k fault.Kind) bool { return !k.OfOperation() && !k.OfCheck() })
	if hit {
		if err := x.applyFaultBefore(rule, id); err != nil {
			x.writeError(err)
			return
		}
		if x.applyAnswerFault(rule) {
			return
		}
	}
	s.opts.Clock.Sleep(x.r.Context(), x.requestLatency())
	_ = s.runDue() // A request that only reads is answered also while nothing can be stored.
	rep, err := x.performRequest(rule, hit)
	if hit {
		x.applyFaultAfter(rule)
	}
	if err != nil {
		x.writeError(err)
		return
	}
	if hit && rule.Kind == fault.Omit {
		omitItems(rep, rule.Target)
	}
	x.writeReply(rep)
	x.notePollAction()
}

// performRequest answers the request in one transaction.
func (x *exchange) performRequest(rule fault.Rule, hit bool) (rep *provider.Reply, err error) {
	s, id := x.s, x.call.ID.String()
	err = s.store.Update(func(tx *store.Tx) error {
		x.call.Tx = tx
		if x.r.Method == "GET" && s.views.isHidden(id, s.opts.Clock.Now()) {
			return x.call.NotFound()
		}
		existed := !hit || rule.Kind != fault.Unseen || x.call.FindItem(id) != nil
		var err error
		if rep, err = x.dispatchPath(); err == nil && !existed {
			s.views.hideUntil(id, s.opts.Clock.Now().Add(durationOr(rule.Seconds, 10)))
		}
		return err
	})
	return rep, err
}

// applyFaultBefore acts a fault that strikes ahead of the request.
func (x *exchange) applyFaultBefore(rule fault.Rule, id string) error {
	switch rule.Kind {
	case fault.Status:
		code, msg := rule.Code, rule.Message
		if code == "" {
			code = strings.ReplaceAll(http.StatusText(rule.Status), " ", "")
		}
		if msg == "" {
			msg = "Injected by the fault script."
		}
		e := provider.Errorf(rule.Status, code, "%s", msg)
		e.RetryAfter, e.Gateway = time.Duration(rule.RetryAfter)*time.Second, true
		return e
	case fault.Throttle:
		wait := max(rule.RetryAfter, 1)
		e := provider.Errorf(429, "TooManyRequests",
			"The server rejected the request because too many requests have been received for this subscription. Please try again after '%d' seconds.", wait)
		e.RetryAfter = time.Duration(wait) * time.Second
		return e
	case fault.Token:
		return x.refuseToken(cmp.Or(rule.Code, "InvalidAuthenticationToken"), cmp.Or(rule.Message, "The access token is invalid."))
	case fault.Reset:
		x.cutConnection()
	case fault.Modify:
		_, tags := rule.Patch["tags"]
		if (x.r.Method == "PUT" || x.r.Method == "PATCH") && x.call.Type != nil && !(tags && x.call.Type.Untracked) {
			body.Merge(x.call.Body, rule.Patch)
		}
	case fault.EtagRace, fault.Edit, fault.Remove, fault.Evict:
		return x.s.disturbResource(rule, id)
	}
	return nil
}

// applyFaultAfter acts a fault that strikes once the request has been carried out.
func (x *exchange) applyFaultAfter(rule fault.Rule) {
	switch rule.Kind {
	case fault.Lost:
		x.cutConnection()
	case fault.LateError:
		status := rule.Status
		if status == 0 {
			status = 504
		}
		x.writeError(provider.Errorf(status, "GatewayTimeout",
			"The gateway did not receive a response from '%s' within the specified time period.", x.call.ID.Namespace))
		x.w = discard{}
	}
}

// omitItems removes the items of a list whose ID ends with end.
func omitItems(rep *provider.Reply, end string) {
	list, ok := rep.Body.(body.Object)
	if !ok {
		return
	}
	items, _ := list["value"].([]any)
	list["value"] = slices.DeleteFunc(slices.Clone(items), func(item any) bool {
		shown, _ := item.(body.Object)
		return strings.HasSuffix(strings.ToLower(body.String(shown, "id")), strings.ToLower(end))
	})
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// refuseToken refuses the request's token.
func (x *exchange) refuseToken(code, msg string) error {
	e := provider.Errorf(401, code, "%s", msg)
	e.Gateway = true
	e.Header = map[string]string{"WWW-Authenticate": fmt.Sprintf(`Bearer authorization_uri="https://login.microsoftonline.com/%s", error="invalid_token", error_description="%s"`, x.s.opts.Tenant, msg)}
	return e
}

func (x *exchange) checkToken() error {
	h := x.r.Header.Get("Authorization")
	if h == "" {
		return x.refuseToken("AuthenticationFailed", "Authentication failed. The 'Authorization' header is missing.")
	}
	kind, token, _ := strings.Cut(h, " ")
	if !strings.EqualFold(kind, "Bearer") || token == "" {
		return x.refuseToken("AuthenticationFailed", "Authentication failed. The 'Authorization' header is provided in an invalid format.")
	}
	c, ok := x.s.entra.verifyToken(token)
	switch {
	case !ok:
		return x.refuseToken("InvalidAuthenticationToken", "The access token is invalid.")
	case time.Unix(c.Exp, 0).Before(time.Now()):
		return x.refuseToken("ExpiredAuthenticationToken",
			fmt.Sprintf("The access token expiry UTC time '%s' is earlier than current UTC time '%s'.", tokenTime(time.Unix(c.Exp, 0)),
				tokenTime(time.Now())))
	case !managementAudience(c.Aud):
		return x.refuseToken("InvalidAuthenticationTokenAudience",
			fmt.Sprintf("The access token has been obtained for wrong audience or resource '%v'. It should exactly match with one of the allowed audiences '%s'.", c.Aud, strings.Join(managementAudiences, "','")))
	case !strings.EqualFold(c.TID, x.s.opts.Tenant):
		return x.refuseToken("InvalidAuthenticationTokenTenant",
			fmt.Sprintf("The access token is from the wrong issuer. It must match the tenant '%s' associated with this subscription.",
				x.s.opts.Tenant))
	}
	x.call.Principal = provider.Principal{ClientID: c.AppID, ObjectID: c.OID, TenantID: c.TID}
	x.record.Principal, x.record.TokenID = c.AppID, c.UTI
	return nil
}

// tokenTime formats a time as Resource Manager does in errors about tokens.
func tokenTime(t time.Time) string { return t.UTC().Format("1/2/2006 3:04:05 PM") }

var versionForm = regexp.MustCompile(`^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(-[A-Za-z0-9.]+)?$`)

func (x *exchange) checkAPIVersion() error {
	v := x.call.Query.Get("api-version")
	if v == "" {
		e := provider.Errorf(400, "MissingApiVersionParameter", "The api-version query parameter (?api-version=) is required for all requests.")
		e.Gateway = true
		return e
	}
	x.call.APIVersion = v
	// A version from the far future cannot be one a client knows; anything else that looks like a date is taken.
	if !versionForm.MatchString(v) || v > "2031" {
		e := provider.Errorf(400, "InvalidApiVersionParameter",
			"The api-version '%s' is invalid. The supported versions are '2025-04-01,2024-11-01,2024-03-01,2023-07-01,2022-12-01,2022-09-01,2021-04-01,2020-06-01,2019-10-01,2018-05-01,2016-09-01,2016-06-01'.", v)
		e.Gateway = true
		return e
	}
	return nil
}

// receiveBody returns the body of a request. It fails with errLargeBody if the body is larger than maxBody. If the client closes the connection before it has sent the whole body, the
// request ends without an answer, and the log has the status 0.
func receiveBody(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if len(raw) > maxBody {
		return nil, errLargeBody
	}
	return raw, nil
}

func (x *exchange) readBody() error {
	switch x.r.Method {
	case "PUT", "PATCH", "POST":
	default:
		return nil
	}
	raw, err := receiveBody(x.r)
	if err != nil {
		// https://github.com/Azure/Azure-Landing-Zones/issues/2644
		e := provider.Errorf(http.StatusRequestEntityTooLarge, "RequestContentTooLarge", "The request content size exceeds the maximum size of 4 MB.")
		e.Gateway = true
		return e
	}
	x.received = raw
	if len(raw) == 0 {
		if x.r.Method == "POST" {
			return nil
		}
		e := provider.Errorf(400, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'The request body is empty.'.")
		e.Gateway = true
		return e
	}
	err = json.Unmarshal(raw, &x.call.Body)
	if err != nil && strings.Contains(strings.Join(x.lower, "/"), "/microsoft.resources/deployments/") {
		err = json.Unmarshal(strictJSON(raw), &x.call.Body)
	}
	if err != nil {
		// The decoder's message may quote the body, so the error has only the offset.
		where := "not a JSON object"
		var syn *json.SyntaxError
		if errors.As(err, &syn) {
			where = fmt.Sprintf("syntax error at byte %d", syn.Offset)
		}
		e := provider.Errorf(400, "InvalidRequestContent", "The request content was invalid and could not be deserialized: '%s'.", where)
		e.Gateway = true
		return e
	}
	return nil
}

// writeError writes an error.
func (x *exchange) writeError(err error) {
	var e *provider.Error
	if !errors.As(err, &e) {
		e = provider.Errorf(500, "InternalServerError", "The server encountered an error processing the request: %s", err.Error())
	}
	if e.Status == 0 {
		e.Status = 400
	}
	h := x.w.Header()
	if e.Gateway {
		h.Set("x-ms-failure-cause", "gateway")
	}
	for k, v := range e.Header {
		if k != "network" {
			h.Set(k, v)
		}
	}
	if e.RetryAfter > 0 {
		x.retryAfter(e.RetryAfter, true)
	}
	x.setHeaders()
	x.writeBody(e.Status, e.JSON())
}

// retryAfter sends the scaled delay: whole seconds, at least one, and milliseconds beside it when the true delay is shorter.
func (x *exchange) retryAfter(d time.Duration, exact bool) {
	if !exact || x.s.opts.TimeScale > 0 && x.s.opts.TimeScale < 1 {
		d = x.s.env.ScaleDuration(d)
	}
	h := x.w.Header()
	h.Set("Retry-After", strconv.Itoa(max(1, int((d+time.Second-1)/time.Second))))
	if d < time.Second {
		h.Set("retry-after-ms", strconv.Itoa(max(1, int(d/time.Millisecond))))
	}
}

// scaleRetryAfter tells clients when to poll, where time runs faster than on Azure: when the operation will be over, or after
// their own polling interval, scaled. That interval is 10 s where Azure sends none.
func (x *exchange) scaleRetryAfter(asked time.Duration) {
	if x.s.opts.AdvanceOnPoll && !x.pending.Due.IsZero() {
		x.w.Header().Set("retry-after-ms", "1")
		return
	}
	if x.s.opts.TimeScale >= 1 {
		return
	}
	if asked == 0 {
		asked = 10 * time.Second
	}
	wait := x.s.env.ScaleDuration(asked)
	if due := x.pending.Due; !due.IsZero() {
		wait = min(wait, due.Sub(x.s.opts.Clock.Now()))
	}
	// Also from a second on: Retry-After has whole seconds, and a client cannot see in it that time is faster than on Azure.
	x.w.Header().Set("retry-after-ms", strconv.Itoa(max(1, int((wait+time.Millisecond-1)/time.Millisecond))))
}

// pollStep is how far a poll moves a virtual clock. It is the delay that most of Azure's answers ask for.
const pollStep = 10 * time.Second

// advanceOnPoll moves a virtual clock after a GET of a running operation or of the resource that it changes.
func (x *exchange) advanceOnPoll() {
	if !x.s.opts.AdvanceOnPoll || x.r.Method != http.MethodGet || x.call == nil {
		return
	}
	running := x.pending != nil
	x.s.store.View(func(tx *store.Tx) {
		for op := range tx.EachRunning() {
			running = running || strings.EqualFold(op.ResourceID, x.call.ID.String())
		}
	})
	if running {
		x.s.Advance(pollStep)
	}
}

// setHeaders sets the headers every answer of Azure Resource Manager carries.
func (x *exchange) setHeaders() {
	h := x.w.Header()
	now := x.s.opts.Clock.Now()
	corr := x.r.Header.Get("x-ms-correlation-request-id")
	if corr == "" {
		corr = x.record.RequestID
	}
	set := func(k, v string) {
		if h.Get(k) == "" {
			h.Set(k, v)
		}
	}
	set("x-ms-request-id", x.record.RequestID)
	set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("Pragma", "no-cache")
	h.Set("Expires", "-1")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	h.Set("x-ms-correlation-request-id", corr)
	h.Set("x-ms-routing-request-id",
		fmt.Sprintf("%s:%s:%s", strings.ToUpper(x.s.opts.Locations[0]), now.Format("20060102T150405Z"), x.s.newGUID()))
	h.Set("X-Cache", "CONFIG_NOCACHE")
	h.Set("X-MSEdge-Ref", "Ref A: "+strings.ToUpper(strings.ReplaceAll(x.record.RequestID, "-",
		""))+" Ref B: SIM000000000001 Ref C: "+now.Format(time.RFC3339))
	h.Set("Date", now.Format(http.TimeFormat))
	if strings.EqualFold(x.r.Header.Get("x-ms-return-client-request-id"), "true") {
		h.Set("x-ms-client-request-id", x.r.Header.Get("x-ms-client-request-id"))
	}
}

func (x *exchange) writeBody(status int, raw []byte) {
	if len(raw) == 0 || x.r.Method == "HEAD" || status == 204 {
		x.w.Header().Del("Content-Type")
		if status != 204 {
			x.w.Header().Set("Content-Length", "0")
		}
		x.w.WriteHeader(status)
		return
	}
	x.w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	x.w.WriteHeader(status)
	_, _ = x.w.Write(raw)
}

// writeReply writes an answer.
func (x *exchange) writeReply(rep *provider.Reply) {
	if rep == nil {
		rep = &provider.Reply{Status: 200}
	}
	h := x.w.Header()
	for k, v := range rep.Header {
		h.Set(k, v)
	}
	if rep.Etag != "" && x.call.Type != nil {
		// In the recordings, the network provider sends the header with reads only, private DNS always, and the other
		// providers never.
		if style := x.call.Type.Style; style == provider.PrivateDNS || style == provider.Network && x.r.Method == "GET" {
			h.Set("ETag", rep.Etag)
		}
	}
	if rep.Operation != nil {
		x.record.OperationID, x.pending = rep.Operation.ID, rep.Operation
		x.operationHeaders(rep)
	}
	if rep.RetryAfter > 0 {
		x.retryAfter(rep.RetryAfter, false)
	}
	if x.pending != nil {
		x.scaleRetryAfter(rep.RetryAfter)
	}
	x.setHeaders()
	var raw []byte
	if rep.Body != nil {
		raw, _ = json.Marshal(rep.Body)
		if x.call.Type != nil && x.call.Type.Style == provider.PrivateDNS {
			raw = []byte(strings.ReplaceAll(string(raw), "/", `\/`)) // private DNS escapes slashes
		}
	}
	status := rep.Status
	if status == 0 {
		status = 200
	}
	x.writeBody(status, raw)
}

// requestLatency returns the duration of the request itself.
func (x *exchange) requestLatency() time.Duration {
	if _, virtual := x.s.opts.Clock.(*store.Virtual); virtual || x.s.opts.TimeScale == 0 {
		return 0
	}
	median := 80 * time.Millisecond
	if t := x.call.Type; t != nil && !x.call.ID.IsCollection() {
		switch x.r.Method {
		case "PUT":
			median = t.Create.HTTP
		case "DELETE":
			median = t.Delete.HTTP
		case "GET":
			if t.Read.HTTP > 0 {
				median = t.Read.HTTP
			} else if t.Style == provider.Compute {
				median = 420 * time.Millisecond
			}
		case "POST":
			median = time.Second
		}
	}
	var d time.Duration
	s := x.s
	// The generator may only be used inside a transaction.
	s.store.View(func(*store.Tx) { d = s.env.ScaleDuration(s.env.DrawDuration(median, 0)) })
	return d
}

func splitSegments(path string) []string {
	var out []string
	for s := range strings.SplitSeq(path, "/") {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// newGUID returns an ID that is drawn outside of transactions: of a request, or a trace.
func (s *Server) newGUID() string {
	s.idMu.Lock()
	defer s.idMu.Unlock()
	return provider.DrawGUID(s.ids)
}

func (s *Server) newTokenID() string {
	s.idMu.Lock()
	defer s.idMu.Unlock()
	return provider.DrawGUID(s.tokenIDs)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store, no-cache")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}
