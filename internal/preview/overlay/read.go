package overlay

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// read answers a request that changes nothing: the live Azure answers for resources that no write has changed, the simulated one for the
// others. Requests for secrets are POST requests, which the live Azure does not get.
func (a *Azure) read(request *http.Request) (*http.Response, error) {
	if a.live == nil || request.Method == http.MethodPost || a.isSimulated(request.URL.Path) {
		return a.simulate(request), nil
	}
	status, body, err := a.live.Get(request.Context(), request.URL)
	a.recordUnanswered(request, status, body, err)
	if err != nil {
		return nil, err
	}
	if status == http.StatusOK {
		body = a.removeGone(body)
	}
	if items, is := listItems(request.URL.Path, status, body); is && a.hasChangesOf(request.URL.Path) {
		return a.mergeList(request, status, items, body)
	}
	return newResponse(request, status, body), nil
}

// recordUnanswered records a read to which the live Azure gave no answer about the resource: without rights, with too many requests, or with
// an error. The controllers keep what they knew then, so a plan would look as if nothing had to be written.
func (a *Azure) recordUnanswered(request *http.Request, status int, body []byte, err error) {
	var reason string
	switch {
	case err != nil:
		reason = err.Error()
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests,
		status >= http.StatusInternalServerError:
		reason = http.StatusText(status)
		var answer struct {
			Error struct{ Code, Message string } `json:"error"`
		}
		if json.Unmarshal(body, &answer) == nil && answer.Error.Code != "" {
			reason = answer.Error.Code + ": " + answer.Error.Message
		}
	default:
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unanswered[request.URL.Path] == "" {
		a.unanswered[request.URL.Path] = reason
	}
}

// Unanswered returns the reasons why the live Azure did not answer reads, by path.
func (a *Azure) Unanswered() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.unanswered)
}

// isSimulated reports whether the simulated Azure has the resource or operation of a path: an operation, a resource that a write has
// changed, or a child of such a resource. A write to a resource group does not make the resources in it simulated.
func (a *Azure) isSimulated(path string) bool {
	key := strings.ToLower(strings.TrimSuffix(path, "/"))
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.operations[key] || a.changed[key] {
		return true
	}
	for at := strings.LastIndexByte(key, '/'); at > 0; at = strings.LastIndexByte(key[:at], '/') {
		if above := key[:at]; a.changed[above] && !isGroup(above) {
			return true
		}
	}
	return false
}

// isGroup reports whether an ID is that of a resource group or a subscription.
func isGroup(key string) bool {
	parsed, err := store.ParseID(key)
	return err == nil && parsed.Namespace == ""
}

// hasChangesOf reports whether a write has changed a resource that a list may have: one of the type that the path names, or any for a list of
// all resources.
func (a *Azure) hasChangesOf(list string) bool {
	list = strings.ToLower(strings.TrimSuffix(list, "/"))
	typ := list[strings.LastIndexByte(list, '/'):] + "/"
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.changed {
		if typ == "/resources/" || strings.Contains(id, typ) {
			return true
		}
	}
	return false
}

// listItems returns the items of the answer to a list. A list in a resource group that does not exist has none.
func listItems(path string, status int, body []byte) (items []json.RawMessage, isList bool) {
	if status == http.StatusNotFound {
		parsed, err := store.ParseID(path)
		return nil, err != nil || parsed.IsCollection()
	}
	var list struct {
		Value *[]json.RawMessage `json:"value"`
		ID    string             `json:"id"`
	}
	if status != http.StatusOK || json.Unmarshal(body, &list) != nil || list.Value == nil || list.ID != "" {
		return nil, false
	}
	return *list.Value, true
}

// mergeList answers a list with the live items that no write has changed, and the simulated ones that a write has.
func (a *Azure) mergeList(request *http.Request, status int, live []json.RawMessage, liveBody []byte) (*http.Response, error) {
	simulated := a.simulate(request)
	body, err := io.ReadAll(simulated.Body)
	if err != nil {
		return nil, err
	}
	if status == http.StatusNotFound && simulated.StatusCode != http.StatusOK {
		return newResponse(request, status, liveBody), nil
	}
	mine, _ := listItems(request.URL.Path, simulated.StatusCode, body)
	out := []json.RawMessage{}
	for _, item := range live {
		if !a.isSimulated(itemID(item)) {
			out = append(out, item)
		}
	}
	for _, item := range mine {
		if a.isSimulated(itemID(item)) {
			out = append(out, item)
		}
	}
	merged, err := json.Marshal(map[string]any{"value": out})
	if err != nil {
		return nil, err
	}
	return newResponse(request, http.StatusOK, merged), nil
}

func itemID(item json.RawMessage) string {
	var head struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(item, &head)
	return head.ID
}

func newResponse(request *http.Request, status int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Request: request, ContentLength: int64(len(body)), Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Body: io.NopCloser(bytes.NewReader(body)),
	}
}
